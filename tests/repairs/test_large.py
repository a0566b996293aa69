"""One effect as large as they come, among small ones and a crowd of people: lists stay light, its page says what is cut
(case D05)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from repairs.models import Case
from workflows.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
LARGE, LIGHT = 20_000_000, 300_000
PEOPLE = 100_000
CROWD = """
INSERT INTO auth_user (username, password, is_superuser, first_name, last_name, email, is_staff, is_active, date_joined)
SELECT 'somebody-' || n, '', false, '', '', '', true, true, now() FROM generate_series(1, %s) n
"""


@pytest.fixture
def crowded(stuck: Make) -> Case:
    """A case whose every value that agents and providers fill is a line of 20 MB, and a hundred thousand people."""
    case: Case = stuck()
    line = "'\"' || repeat('<b>x</b> ', %s) || '\"'"
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        of = "WHERE run_id = %s AND kind = 'forward'"
        one_line = f"jsonb_build_object('text', ({line})::jsonb)"
        cursor.execute(f"UPDATE workflows_effect SET arguments = {one_line} {of}", [LARGE // 9, case.run_id])
        cursor.execute(f"UPDATE workflows_run SET input = {one_line} WHERE id = %s", [LARGE // 90, case.run_id])
        cursor.execute(CROWD, [PEOPLE])
        cursor.execute(
            "INSERT INTO auth_user_groups (user_id, group_id) SELECT u.id, g.id FROM auth_user u, auth_group g"
            " WHERE g.name = 'repairer' AND u.username LIKE 'somebody-%%'"
        )
        cursor.execute("SET session_replication_role = DEFAULT")
    return case


def test_d05_lists_and_forms_stay_light_and_the_large_one_is_shown_cut_and_taken_whole(
    crowded: Case, person: Make, browse: Make
) -> None:
    client: Client = browse(person("day-desk", "repairer", "approver"))
    run = crowded.run_id
    effect = Effect.objects.filter(run=run, kind="forward").values_list("id", flat=True).first()
    case = f"/repairs/{crowded.number}/"
    lists = ["/", "/repairs/", "/runs/", "/journal/", "/tools/", "/tools/crm.contact/sends", "/admin/workflows/effect/"]
    lists += ["/admin/workflows/run/", f"/runs/{run}/", f"/runs/{run}/time", f"/runs/{run}/journal"]
    for address in [*lists, case, f"{case}hand-over", f"{case}remedy", f"/runs/{run}/effects/{effect}"]:
        answer = client.get(address)
        assert (answer.status_code, len(answer.content) < LIGHT) == (200, True), (address, len(answer.content))

    page = client.get(f"/runs/{run}/effects/{effect}").content.decode()
    assert re.search(r"cut: 4,000 of 2\d,\d{3},\d{3} characters", page)
    heading = '<h2 id="value-arguments">Arguments</h2>'
    told = re.search(heading + r'<a href="([^"]+)".*?sha256</bdi> <span class="id">(\w+)<', page)
    assert told
    file = client.get(told[1])
    assert file["Content-Disposition"].startswith("attachment")
    assert len(file.content) > LARGE * 0.99
    assert hashlib.sha256(file.content).hexdigest() == told[2]

"""C47: quarantine never evicts. With more of it than any page counts, the first is still found and put right."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from repairs.models import Case
from repairs.worklist import CAP
from tests.engine.conftest import again
from tests.engine.simulated import World
from workflows import history, rows
from workflows.drain import drain_once
from workflows.engine import findings, people
from workflows.engine.advance import advance
from workflows.engine.recover import recover
from workflows.models import Effect, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
QUERIES, BYTES = 12, 400_000  # of one page, however much there is


@pytest.fixture
def first(world: World, tool: Make, workflow: Make, begin: Make) -> Case:
    """The case of work that ended three workers in a row, before all others."""
    tool("t.a")
    run: Run = begin(workflow("t.a"))
    advance()
    Effect.objects.update(unanswered=3, state="dispatched", attempts=3, fence=3, lease_until=rows.now(), due_at=None)
    assert len(recover()) == 1
    advance()
    case: Case = Case.objects.get(run=run)
    assert case.reasons[0]["code"] == "poison"
    return case


def test_of_ten_thousand_and_one_in_quarantine_the_first_is_forgotten_or_a_page_grows_with_them(
    first: Case, world: World, person: Make, browse: Make
) -> None:
    _multiply(CAP + 1)
    history.keep()
    assert Effect.objects.filter(state="stuck", reason="poison").count() == CAP + 2, "some were thrown away"
    client: Client = browse(person("night desk", "repairer"))
    home, queue, view, search = (
        _page(client, address)
        for address in ("/", "/repairs/", "/repairs/?view=quarantined", f"/repairs/?q={first.name}")
    )
    assert "10,000+" in home
    assert _shown(queue)[0] == _shown(view)[0] == first.name, "who waits longest doesn't come first"
    assert _shown(search) == [first.name]
    assert first.name in _page(client, f"/repairs/{first.number}/")
    effect = Effect.objects.get(run=first.run)
    people.look_again(effect.id, by="person:night desk", why="its tool was mended")
    drain_once()
    findings.try_again(effect.id, by="person:night desk", why="nothing of it is there")
    drain_once()
    assert (again(first.run).state, Case.objects.get(id=first.id).state) == ("completed", "resolved")
    assert _shown(_page(client, "/repairs/?view=quarantined"))[0] != first.name


def test_what_is_in_quarantine_can_be_thrown_away(first: Case) -> None:
    with pytest.raises(IntegrityError, match=r"append-only|violates"), connection.cursor() as cursor:
        cursor.execute("DELETE FROM workflows_effect WHERE state = 'stuck'")


def _page(client: Client, address: str) -> str:
    with CaptureQueriesContext(connection) as asked:
        answer = client.get(address, follow=True)
    assert (answer.status_code, len(asked) <= QUERIES, len(answer.content) < BYTES) == (200, True, True), address
    return str(answer.content.decode())


def _shown(page: str) -> list[str]:
    return re.findall(r'data-label="Case"><a [^>]*>(C-\d+)</a><', page)


def _multiply(number: int) -> None:
    """As many runs, effects and cases more, made from the one there is, each a little younger."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMP TABLE more ON COMMIT PRESERVE ROWS AS"
            " SELECT n, gen_random_uuid() AS run FROM generate_series(1, %s) n",
            [number],
        )
        cursor.execute("SET session_replication_role = replica")  # copies of what was checked
        for model, changed in (
            (Run, {"id": "m.run", "idempotency_key": "n::text", "epoch": "n + 1000000"}),
            (
                Effect,
                {"id": "gen_random_uuid()", "run_id": "m.run", "key": "left(md5(n::text), 26)", "epoch": "n + 1000000"},
            ),
            (
                Case,
                {
                    "id": "gen_random_uuid()",
                    "run_id": "m.run",
                    "number": "number + n",
                    "deadline": "deadline + n * interval '1 second'",
                    "found_by": "'more ' || n",
                },
            ),
        ):
            names = [str(field.column) for field in model._meta.concrete_fields]
            picked = ", ".join(changed.get(name, f"t.{name}") for name in names)
            cursor.execute(
                f"INSERT INTO {model._meta.db_table} ({', '.join(names)}) SELECT {picked}"
                f" FROM (SELECT * FROM {model._meta.db_table} LIMIT 1) t, more m"
            )
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute("DROP TABLE more")
        cursor.execute("ANALYZE repairs_case, workflows_effect, workflows_run")

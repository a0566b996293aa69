"""When a policy is active, or an approval taken back, who was deciding by what was before has been waited for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection

from tests.authority.asking import approve
from tests.engine.simulated import World
from workflows.authority import approvals, dry_run, policies, stops
from workflows.models import Approval, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
PATIENCE = 20.0  # seconds: how long a test waits for what must come
WAITING = """
SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND NOT granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
"""
TEXT = "policy: closed\nrules:\n  - {name: shut, when: 'true', then: {deny: shut}}\nexpect: [{verdict: deny}]"


@pytest.fixture
def deciding() -> Iterator[Any]:
    """A worker in the middle of a dispatch: what it read before is what it decides by."""
    other = connection.copy()
    other.set_autocommit(False)
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock_shared(%s)", [stops.LOCK])
    yield other
    other.rollback()
    other.close()


@pytest.mark.parametrize("guard", ["on", "off"])
@pytest.mark.parametrize("what", ["activate", "take back"])
def test_who_was_deciding_by_what_was_true_before_is_waited_for(
    guard: str,
    what: str,
    world: World,
    asking: Callable[..., tuple[Run, Approval]],
    person: Make,
    deciding: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desk: User = person("day-desk", "approver")
    _, approval = asking()
    approve(approval, desk)
    made = policies.draft(TEXT, by="person:author")
    dry_run.dry_run(made.id, by="person:author")
    if guard == "off":
        monkeypatch.setattr(stops, "quiet", lambda: True)

    def say() -> None:
        try:
            if what == "activate":
                policies.activate(made.id, by="person:second")
            else:
                approvals.revoke(approval.id, by=desk, why="a slip")
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        saying: Future[None] = pool.submit(say)
        while not saying.done() and not waits():
            continue
        assert saying.done() == (guard == "off")
        deciding.rollback()
        saying.result(PATIENCE)


def waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(WAITING)
        found: bool = cursor.fetchone()[0]
    return found

"""C58, each guard in a pair: with it nothing is overspent and undoing goes on, and without it the same breaks."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from tests.authority.purse import beside_each_other, give, of_run, priced, taken
from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows import bells, rows
from workflows.authority import budget_rows
from workflows.drain import drain_once
from workflows.engine.advance import advance
from workflows.engine.dispatch import dispatch
from workflows.engine.reconcile import reconcile
from workflows.engine.recover import recover
from workflows.models import Budget, Effect
from workflows.policies import holds, spending

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
on_and_off = pytest.mark.parametrize("guard", ["on", "off"])


@on_and_off
def test_what_is_reserved_is_spent_by_nobody_else(
    guard: str, world: World, tool: Make, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Off: only what is used counts, as in a check before the act and a count after it."""
    tool("t.a")
    if guard == "off":
        monkeypatch.setattr(spending.Book, "taken", lambda self, unit: self.used.get(unit, 0))
    begin(beside_each_other(workflow(*["t.a"] * 5)), budget={"effects": 2})
    drain_once()
    assert len(world.made) == (2 if guard == "on" else 5)


@on_and_off
def test_budgets_are_counted_under_their_locks(
    guard: str, world: World, tool: Make, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Off: counts are read, added to and written back by two workers at the same time."""
    tool("t.a")
    budget = give("agent:sim", effects=1)
    for _ in range(2):
        begin(workflow("t.a"))
    advance()
    if guard == "off":
        monkeypatch.setattr(budget_rows, "LOCKED", "ORDER BY t.id")
    other = _second_worker_in_the_middle(monkeypatch)
    first = dispatch(1)
    assert len(first) + len(other()) == (1 if guard == "on" else 2)
    found = Budget.objects.get(id=budget.id)
    assert found.reserved["effects"] == 1, "off: two left, and one was forgotten"


def _second_worker_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[Effect]]:
    """Another worker dispatches after the first has counted, before it has committed; returns what that one got."""
    got: list[Effect] = []
    done = threading.Event()
    real = budget_rows.save

    def work() -> None:
        try:
            got.extend(dispatch(1))
        finally:
            connection.close()
            done.set()

    worker = threading.Thread(target=work)

    def save(changed: Any) -> None:
        if not worker.ident:
            monkeypatch.setattr(budget_rows, "save", real)
            worker.start()
            _until_waiting_or(done)
        real(changed)

    monkeypatch.setattr(budget_rows, "save", save)

    def join() -> list[Effect]:
        worker.join(20)
        return got

    return join


def _until_waiting_or(done: threading.Event) -> None:
    """With its lock the other worker can't be done before the first one's transaction is: then it waits for that."""
    with bells.connect() as watcher:
        while not done.wait(0.01):
            row = watcher.execute(
                "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            ).fetchone()
            if row:
                return


@on_and_off
def test_undoing_is_never_refused_for_want_of_a_budget(
    guard: str, world: World, tool: Make, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Off: undoing draws on the same budget as acting, which used it up."""
    tool("t.a")
    tool("t.b")
    world.script("t.b", "execute", "refused")
    if guard == "off":
        monkeypatch.setattr(spending, "draws_on_reserve", lambda _kind: False)
    run = begin(workflow("t.a", "t.b"), budget={"calls": 2})
    drain_once()
    if guard == "on":
        assert (again(run).state, world.things) == ("compensated", {})
    else:
        assert states(again(run))["a compensation"] == "blocked nothing"
        assert world.things, "it stands, and nobody may undo it"


@on_and_off
def test_a_cost_that_is_not_known_is_never_nothing(
    guard: str, world: World, tool: Make, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Off: what isn't known is counted as zero."""
    priced(tool("t.pay"))
    if guard == "off":
        monkeypatch.setattr(spending, "money_of", lambda *_: {})
    begin(beside_each_other(workflow(*["t.pay"] * 3)), budget={"money": {"EUR": 1000}})
    drain_once()
    assert len(world.made) == (1 if guard == "on" else 3)


@on_and_off
def test_children_draw_on_the_budget_above_them(
    guard: str, world: World, tool: Make, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Off: each child has an allowance of its own, and no other."""
    tool("t.a")
    parent = begin(workflow(), budget={"effects": 3})
    children = [begin(workflow("t.a"), budget={"of": str(parent.id), "effects": 1}) for _ in range(5)]
    if guard == "off":
        for child in children:
            own = of_run(child)
            Budget.objects.filter(id=own.id).update(line=[own.id])
    drain_once()
    assert len(world.made) == (3 if guard == "on" else 5)


@on_and_off
def test_what_may_have_happened_is_not_given_back(
    guard: str, world: World, tool: Make, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Off: a worker that died gives back what it had reserved, although its call may have been made."""
    priced(tool("t.pay", verify=False, keyed=False))
    flow = beside_each_other(workflow("t.pay"), amount=80)
    first, second = begin(flow), begin(flow)
    budget = give("agent:sim", EUR=100)
    advance()
    sent = dispatch(1)
    world.made.append(sent[0].key)  # it left, and its worker died before any answer
    Effect.objects.filter(id=sent[0].id).update(lease_until=rows.now() - dt.timedelta(hours=1))
    if guard == "off":
        real = holds.worth_after
        given = {"unknown": holds.RETURNED, "stuck": holds.RETURNED}
        monkeypatch.setattr(holds, "worth_after", lambda state, world, was: given.get(state) or real(state, world, was))
        monkeypatch.setattr("workflows.engine.reconcile.BEHIND", "SELECT effect_id FROM workflows_reservation LIMIT %s")
    recover()
    reconcile()
    drain_once()
    assert len(world.made) == (1 if guard == "on" else 2)
    if guard == "on":
        assert taken(budget)[1]["EUR"] == 80, "nobody knows, so it is held"
        assert [again(run).state for run in (first, second)] == ["stuck", "running"]


@on_and_off
def test_the_sweep_brings_home_what_a_dead_worker_left(
    guard: str, world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    """Off: nobody comes back to it, and what was reserved is lost for good."""
    tool("t.a")
    run = begin(workflow("t.a"), budget={"seconds": 12})
    advance()
    assert dispatch(1)
    Effect.objects.update(lease_until=rows.now() - dt.timedelta(hours=1))
    recover()
    if guard == "on":
        reconcile()
    used, reserved = Budget.objects.values_list("used", "reserved").get(owner=f"run:{run.id}")
    assert (used.get("calls", 0), reserved.get("calls", 0)) == ((1, 0) if guard == "on" else (0, 1))

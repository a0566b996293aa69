"""Budgets as an agent sees them: given at the start, told where they are used up, shared with what it begins."""

from __future__ import annotations

import pytest

from tests.api.conftest import Caller, problem, read
from workflows.drain import drain_once
from workflows.models import Budget, Run

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_is_beyond_the_budget_waits_and_says_by_which(caller: Caller) -> None:
    run = caller.start(budget={"effects": 1, "calls": 0, "money": {"EUR": 5000}, "customers": 1, "seconds": 30})
    drain_once()
    found = read(caller.get(f"runs/{run['id']}"))
    assert (found["state"], found["phase"]) == ("stuck", "running")
    [blocked] = found["blocked_by"]
    assert (blocked["reason"], blocked["step"], blocked["until"]) == ("budget", "act", None)
    [by] = blocked["by"]
    told = {name: by[name] for name in ("of", "unit", "limit", "used", "reserved", "needed", "waits")}
    assert told == {
        "of": f"run {run['id']}", "unit": "calls", "limit": 0, "used": 0, "reserved": 0, "needed": 1, "waits": "person",
    }  # fmt: skip
    [effect] = found["effects"]
    assert (effect["state"], effect["reason"], effect["blocked_by"]) == ("blocked", "budget", [by])
    assert len(found["cases"]) == 1
    cancelled = read(caller.post(f"runs/{run['id']}/cancel", {"reason": "no longer wanted"}))
    drain_once()
    assert (cancelled["id"], read(caller.get(f"runs/{run['id']}"))["state"]) == (run["id"], "cancelled")


def test_the_same_start_again_gives_no_second_budget(caller: Caller) -> None:
    body = {"workflow": "sim", "subject": {"type": "customer", "id": "c"}, "budget": {"calls": 3}}
    first, again = (caller.post("runs", body, key="k") for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 200)
    assert Budget.objects.get().limits == {"calls": 3}
    assert problem(caller.post("runs", {**body, "budget": {"calls": 4}}, key="k"))[:2] == (422, "key_reused")


def test_a_run_of_another_agent_can_t_be_shared_and_isn_t_told_apart_from_none(caller: Caller, other: Caller) -> None:
    theirs = other.start(budget={"calls": 3})["id"]
    bare = caller.start()["id"]
    runs = Run.objects.count()
    answers = []
    for named in (theirs, "01890000-0000-7000-8000-000000000000", bare):
        body = {"workflow": "sim", "subject": {"type": "customer", "id": "c"}, "budget": {"of": named}}
        answer = caller.post("runs", body)
        assert problem(answer) == (400, "invalid", ["budget.of"])
        answers.append(read(answer)["errors"][0]["message"])
    assert answers[0] == answers[1] != answers[2]
    assert Run.objects.count() == runs, "nothing was written"

"""What a run and an effect say of the world: read in a constant number of queries, and shaped as the contract says."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import Caller, problem, read
from tests.engine import simulated
from tests.engine.simulated import WORLD
from workflows import reading
from workflows.drain import drain_once
from workflows.models import Run, Tool

EFFECT = [
    *(
        "id",
        "kind",
        "step",
        "tool",
        "tool_version",
        "state",
        "world",
        "reason",
        "blocked_by",
        "key",
        "digest",
        "scopes",
    ),
    *("fence", "attempts", "external_ref", "result", "verified_at", "verifiable", "compensates", "compensated_by"),
    *("residue", "owner"),
]


def drained(caller: Caller, run: dict[str, Any]) -> dict[str, Any]:
    drain_once(slots=4)
    return read(caller.get(f"runs/{run['id']}"))


def test_a_verified_effect_shows_its_proof(caller: Caller) -> None:
    run = drained(caller, caller.start())
    assert (run["state"], run["clean"], run["residue"], run["blocked_by"]) == ("completed", True, [], [])
    (effect,), (step,) = run["effects"], run["steps"]
    assert sorted(effect) == sorted(EFFECT)
    assert (step["state"], step["effect"], step["result"]) == ("done", effect["id"], effect["result"])
    assert (effect["kind"], effect["step"], effect["tool"], effect["tool_version"]) == ("forward", "act", "sim.act", 1)
    assert (effect["state"], effect["world"], effect["verifiable"], effect["attempts"]) == (
        "verified",
        "present",
        True,
        1,
    )
    assert (effect["external_ref"], effect["owner"], len(effect["key"])) == (f"id-{effect['key']}", "sim-desk", 26)

    whole = read(caller.get(f"effects/{effect['id']}"))
    assert {**effect, "attempts": None} == {name: whole[name] for name in EFFECT} | {"attempts": None}
    assert (whole["run"], whole["arguments"], whole["approvals"]) == (run["id"], {}, [])
    assert [(a["number"], a["outcome"], a["stale"]) for a in whole["attempts"]] == [(1, "acknowledged", False)]
    assert [(look["verdict"], look["counted"]) for look in whole["looks"]] == [("found", True)]
    assert [(d["verdict"], d["rule"]) for d in whole["decisions"]] == [("allow", "trusted-auto")]
    assert (whole["evidence"]["of"], whole["evidence"]["says"]) == ("look", "found")


def test_what_needs_a_person_shows_its_case_and_is_answered_at_once(caller: Caller) -> None:
    run = caller.start()
    WORLD.script("sim.act", "look", "differs")
    drain_once(slots=4)
    answer = caller.get(f"runs/{run['id']}", Prefer="wait=60")
    assert "Preference-Applied" not in answer.headers
    run = read(answer)
    assert (run["state"], run["clean"], run["effects"][0]["state"]) == ("stuck", None, "stuck")
    (case,) = run["cases"]
    assert sorted(case) == ["deadline", "id", "owner", "sentence", "state", "url"]
    assert (case["state"], case["owner"]) == ("open", "sim-desk")
    (left,) = run["residue"]
    assert left == {
        "effect": run["effects"][0]["id"],
        "world": "differs",
        "statement": "A thing stands.",
        "owner": "sim-desk",
        "customer_visible": True,
        "value": None,
    }


def test_an_undone_effect_and_its_undoing_name_each_other(caller: Caller) -> None:
    run = caller.start(workflow=None, open=True)
    for name in ("first", "second"):
        caller.post(f"runs/{run['id']}/steps", {"name": name, "tool": "sim.act", "arguments": {}})
    WORLD.script("sim.act", "execute", "well", "refused")
    run = drained(caller, run)
    assert (run["phase"], run["state"], run["clean"]) == ("over", "compensated", False)
    forward, undoing, failed = run["effects"]
    assert [e["step"] for e in run["effects"]] == ["first", "first", "second"]
    assert (forward["compensated_by"], undoing["compensates"]) == (undoing["id"], forward["id"])
    assert (forward["state"], forward["world"], undoing["kind"]) == ("undone", "gone", "compensation")
    assert (failed["state"], failed["world"]) == ("failed", "nothing")
    assert [step["state"] for step in run["steps"]] == ["undone", "failed"]
    assert read(caller.get(f"effects/{forward['id']}"))["compensated_by"] == undoing["id"]


def test_a_blocked_effect_says_why_and_by_what(caller: Caller) -> None:
    spec = simulated.spec(scopes=["thing:1"])
    Tool.objects.create(name="sim.held", version=1, kind="python", digest="h", spec=spec, owner="sim-desk")
    runs = [caller.start(workflow=None, open=True) for _ in range(2)]
    for run in runs:
        caller.post(f"runs/{run['id']}/steps", {"name": "act", "tool": "sim.held", "arguments": {}})
    WORLD.script("sim.held", "look", "differs")
    first, second = (drained(caller, run) for run in runs)
    assert (first["effects"][0]["state"], second["effects"][0]["state"]) == ("stuck", "blocked")
    (waits,) = second["blocked_by"]
    assert (waits["effect"], waits["step"], waits["reason"]) == (second["effects"][0]["id"], "act", "order")
    assert first["effects"][0]["id"] in str(waits["by"])


def test_a_run_that_waits_for_late_answers_says_until_when(caller: Caller) -> None:
    run = caller.start()
    Run.objects.filter(id=run["id"]).update(waits_until="2030-01-01T00:00:00Z")
    (waits,) = read(caller.get(f"runs/{run['id']}"))["blocked_by"]
    late: dict[str, Any] = {"effect": None, "step": None, "reason": "late", "by": [], "chain": []}
    assert waits == {**late, "until": "2030-01-01T00:00:00.000000Z"}


def test_d12_another_s_effect_an_unknown_one_and_a_malformed_id_are_told_alike(caller: Caller, other: Caller) -> None:
    theirs = drained(other, other.start())["effects"][0]["id"]
    answers = [caller.get(f"effects/{effect}") for effect in (theirs, uuid.uuid4(), "nope", "1'", 10**30, "%00")]
    assert {answer.content for answer in answers} == {answers[0].content}
    assert problem(answers[0]) == (404, "not_found", [])


@pytest.fixture
def queries(caller: Caller) -> Callable[[int], int]:
    """How many queries it takes to read a run of so many steps."""

    def count(steps: int) -> int:
        run = caller.start(workflow=None, open=True)
        for n in range(steps):
            caller.post(f"runs/{run['id']}/steps", {"name": f"s{n}", "tool": "sim.act", "arguments": {}, "after": []})
        drain_once(slots=8)
        with CaptureQueriesContext(connection) as seen:
            found = reading.run_in_full(reading.run_of(caller.agent, uuid.UUID(run["id"])))
        assert len(found["effects"]) == steps
        return len(seen)

    return count


def test_a_run_of_many_effects_takes_as_many_queries_as_a_run_of_one(queries: Callable[[int], int]) -> None:
    assert queries(1) == queries(20) == 4

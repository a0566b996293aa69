"""Starting, filling, sealing and cancelling runs: the same call again is the same run, and nothing leaks to others."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from tests.api.conftest import Caller, problem, read
from workflows.models import Decision, Run, Step

BODY: dict[str, Any] = {
    "workflow": "sim",
    "subject": {"type": "customer", "id": "1", "label": "Acme"},
    "input": {"n": 1},
}
NO_RUN = "There is no such run, or it isn't yours."


def test_a_run_is_made_once_and_found_again_by_its_key(caller: Caller) -> None:
    first = caller.post("runs", BODY, key="k")
    again = caller.post(
        "runs", b'{ "input":{"n":1},"subject":{"label":"Acme","id":"1","type":"customer"},"workflow":"sim"}', key="k"
    )
    assert (first.status_code, again.status_code) == (201, 200)
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"
    assert first.headers["Location"] == again.headers["Location"] == f"/api/v1/runs/{read(first)['id']}"
    assert read(caller.get(first.headers["Location"].removeprefix("/api/v1/"))) == read(first)


def test_a_run_shows_what_was_asked_and_what_became_of_it(caller: Caller) -> None:
    run = caller.start(external_id="order-7", input={"big": 2**53, "small": 2**53 - 1, "sum": -(2**70)})
    assert {
        name: run[name] for name in ("workflow", "version", "external_id", "phase", "state", "clean", "sealed")
    } == {
        "workflow": "sim",
        "version": 1,
        "external_id": "order-7",
        "phase": "running",
        "state": "running",
        "clean": None,
        "sealed": True,
    }
    assert run["input"] == {"big": "9007199254740992", "small": 9007199254740991, "sum": "-1180591620717411303424"}
    assert [(step["name"], step["tool"], step["state"], step["effect"]) for step in run["steps"]] == [
        ("act", "sim.act", "pending", None)
    ]
    assert (run["effects"], run["residue"], run["cases"], run["blocked_by"]) == ([], [], [], [])


def test_a_key_that_came_with_another_body_is_refused(caller: Caller) -> None:
    caller.post("runs", BODY, key="k")
    answer = caller.post("runs", {**BODY, "input": {"n": 2}}, key="k")
    assert problem(answer) == (422, "key_reused", ["Idempotency-Key"])
    assert Run.objects.count() == 1


def test_a_refused_body_doesn_t_spoil_its_key(caller: Caller) -> None:
    assert caller.post("runs", {**BODY, "workflow": "nope"}, key="k").status_code == 400
    assert caller.post("runs", BODY, key="k").status_code == 201


def test_two_agents_never_share_a_key(caller: Caller, other: Caller) -> None:
    mine, theirs = caller.post("runs", BODY, key="k"), other.post("runs", BODY, key="k")
    assert (mine.status_code, theirs.status_code) == (201, 201)
    assert read(mine)["id"] != read(theirs)["id"]


@pytest.mark.django_db(transaction=True)
def test_twins_that_race_get_the_same_run(caller: Caller) -> None:
    def start(_n: int) -> tuple[int, str]:
        try:
            answer = caller.post("runs", BODY, key="k")
            return answer.status_code, read(answer)["id"]
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(start, range(20)))
    assert sorted(status for status, _ in answers) == [200] * 19 + [201]
    assert len({run for _, run in answers}) == Run.objects.count() == 1


def test_a_workflow_that_isn_t_granted_is_denied_with_a_decision(caller: Caller) -> None:
    caller.agent.workflows = []
    caller.agent.save()
    assert problem(caller.post("runs", BODY)) == (403, "denied", [])
    decision = Decision.objects.get()
    assert (decision.agent, decision.verdict) == (caller.agent, "deny")
    assert not Run.objects.exists()


def test_an_open_run_takes_steps_by_name_until_it_is_sealed(caller: Caller) -> None:
    run = caller.start(workflow=None, open=True)
    assert (run["workflow"], run["phase"], run["sealed"]) == ("adhoc", "open", False)
    path = f"runs/{run['id']}"
    step = {"name": "first", "tool": "sim.act", "arguments": {"amount": 7}}
    first, again = caller.post(f"{path}/steps", step, key=None), caller.post(f"{path}/steps", step)
    assert (first.status_code, again.status_code) == (202, 200)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert {**read(first), "arguments": None} == {**read(again), "arguments": None}
    assert (read(first)["name"], read(first)["tool"], read(first)["state"]) == ("first", "sim.act", "pending")
    assert problem(caller.post(f"{path}/steps", {**step, "arguments": {}})) == (409, "name_taken", ["name"])

    sealed, twice = caller.post(f"{path}/seal", key=None), caller.post(f"{path}/seal", b"", key=None)
    assert (sealed.status_code, twice.status_code) == (202, 200)
    assert read(sealed)["sealed"] is True
    assert problem(caller.post(f"{path}/steps", {**step, "name": "second"}))[:2] == (409, "sealed")
    assert Step.objects.count() == 1


def test_a_step_with_a_tool_that_isn_t_granted_is_denied(caller: Caller) -> None:
    run = caller.start(workflow=None, open=True)
    caller.agent.tools = []
    caller.agent.save()
    step = {"name": "first", "tool": "sim.act", "arguments": {}}
    assert problem(caller.post(f"runs/{run['id']}/steps", step)) == (403, "denied", [])
    assert Decision.objects.get().verdict == "deny"


def test_a_cancelled_run_turns_back_and_an_ended_one_can_t_be_cancelled(caller: Caller) -> None:
    from workflows.drain import drain_once

    run = caller.start(workflow=None, open=True)
    path = f"runs/{run['id']}"
    answer = caller.post(f"{path}/cancel", {"reason": "asked in error"}, key=None)
    assert (answer.status_code, read(answer)["phase"]) == (202, "unwinding")
    drain_once(slots=1)
    ended = read(caller.get(path))
    assert (ended["phase"], ended["state"], ended["clean"]) == ("over", "cancelled", False)
    assert (ended["end_cause"], ended["end_reason"]) == ("cancel", "asked in error")
    assert problem(caller.post(f"{path}/cancel", {"reason": "again"})) == (409, "run_over", [])
    assert problem(caller.post(f"{path}/seal")) == (409, "run_over", [])


CALLS: list[tuple[str, str, Any]] = [
    ("GET", "", None),
    ("POST", "/steps", {"name": "first", "tool": "sim.act", "arguments": {}}),
    ("POST", "/steps", {}),
    ("POST", "/seal", {}),
    ("POST", "/cancel", {"reason": "x"}),
]


@pytest.mark.parametrize(("method", "rest", "body"), CALLS)
def test_d12_another_s_run_an_unknown_one_and_a_malformed_id_are_told_alike(
    caller: Caller, other: Caller, method: str, rest: str, body: Any
) -> None:
    theirs = other.start(workflow=None, open=True)["id"]
    ids = [theirs, str(uuid.uuid4()), "nope", "1'", str(10**30), "%00", "{" + theirs + "}", "%FF"]
    paths = [f"runs/{run}{rest}" for run in ids]
    answers = [caller.get(path) if method == "GET" else caller.post(path, body) for path in paths]
    assert {(answer.status_code, answer.content) for answer in answers} == {(404, answers[0].content)}
    assert read(answers[0])["detail"] == NO_RUN


@pytest.mark.parametrize("path", ["nope", "runs/", "tools/", "schema", "runs/x/y/z"])
def test_every_address_answers_in_the_api_s_own_form(caller: Caller, path: str) -> None:
    answer = caller.get(path)
    if path in ("nope", "runs/x/y/z"):
        assert problem(answer) == (404, "not_found", [])
    else:
        assert (answer.status_code, answer.headers["Content-Type"].split(";")[0]) == (200, "application/json")


def test_a_method_that_an_address_doesn_t_have_is_told(caller: Caller) -> None:
    assert problem(caller.client.delete("/api/v1/runs", headers={"Authorization": f"Bearer {caller.key}"})) == (
        405,
        "method_not_allowed",
        [],
    )


@pytest.mark.parametrize("path", ["schema/", "docs/"])
@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE", "OPTIONS"])
def test_the_contract_s_own_pages_tell_it_otherwise(db: None, path: str, method: str) -> None:
    assert problem(Client().generic(method, f"/api/v1/{path}")) == (405, "method_not_allowed", [])


def test_a_form_posted_from_elsewhere_needs_a_key_like_everything(db: None) -> None:
    assert problem(Client(enforce_csrf_checks=True).post("/api/v1/runs", {"a": "b"})) == (401, "unauthenticated", [])

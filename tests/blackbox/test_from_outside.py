"""What any agent meets: a plain manifest that runs at once, and the answers that keep it from doing harm by mistake."""

from __future__ import annotations

import uuid
from typing import Any

from tests.blackbox import manifests
from tests.blackbox.agent import Agent
from tests.blackbox.conftest import Story
from workflows import models

# Nothing but what the contract requires: every time and count is a default.
PLAIN = """
tools:
  crm.contact:
    version: 1
    kind: http
    profile: {effect_class: reversible, access: write, environment: trusted, observability: authoritative_read,
              autonomy: auto, privileges: [crm.write], owner: crm-desk, customer_visible: false,
              residue: "A contact stands."}
    idempotency: {by: native_key}
    arguments: {type: object, required: [email], properties: {email: {type: string}}}
    execute:
      method: POST
      url: "${ env.WORLD_URL }/contacts"
      headers: {Idempotency-Key: "${ key }"}
      json: {email: "${ args.email }", reference: "${ key }"}
      result: {id: "${ body.id }"}
    verify:
      url: "${ env.WORLD_URL }/contacts?reference=${ key }"
      found: "status == 200 && size(body.items) == 1"
      absent: "status == 200 && size(body.items) == 0"
      result: {id: "${ body.items[0].id }"}
    compensate:
      method: DELETE
      url: "${ env.WORLD_URL }/contacts/${ result.id }"
workflows:
  onboarding:
    version: 1
    owner: onboarding-desk
    input: {type: object, required: [email], properties: {email: {type: string}}}
    steps:
      - {name: contact, tool: crm.contact, arguments: {email: "${ input.email }"}}
"""


def test_a_plain_manifest_of_a_trusted_environment_runs_at_once(story: Story) -> None:
    story.apply(PLAIN)
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.run["clean"], truth.residue, truth.cases) == ("completed", True, [], [])
    assert truth.effects == {"contact forward": "verified present"}
    assert truth.details["contact forward"]["decisions"][0]["rule"] == "trusted-auto"
    assert len(story.world.wire("POST")) == 1


def test_what_a_tool_was_not_granted_for_never_leaves(story: Story) -> None:
    story.apply(manifests.one_step())
    stranger = Agent("stranger", tools="crm.contact", workflows="onboarding")
    story.apply(manifests.manifest([manifests.MEMBER]))
    status, problem = stranger.post("runs", {"subject": {"type": "customer", "id": "c"}, "open": True}, key="k")
    assert (status, problem["code"]) == (403, "denied"), "an agent without adhoc may not open a run"
    run = stranger.start()
    assert story.agent.post(f"runs/{run}/cancel", {"reason": "mine?"})[0] == 404
    other = story.agent.start(None, open=True)
    status, problem = stranger.post(f"runs/{other}/steps", {"name": "a", "tool": "audience.member", "arguments": {}})
    assert (status, problem["code"]) == (404, "not_found")
    story.settle()
    assert len(story.world.wire("POST")) == 1


def test_the_same_request_is_the_same_run_and_another_body_under_its_key_is_refused(story: Story) -> None:
    story.apply(manifests.one_step())
    body: dict[str, Any] = {
        "workflow": "onboarding",
        "subject": {"type": "customer", "id": "c1"},
        "input": {"email": "office@acme.example"},
    }
    first, again = (story.agent.post("runs", body, key="same") for _ in range(2))
    assert (first[0], again[0], first[1]["id"]) == (201, 200, again[1]["id"])
    status, problem = story.agent.post("runs", {**body, "input": {"email": "billing@acme.example"}}, key="same")
    assert (status, problem["code"]) == (422, "key_reused")
    assert story.agent.post("runs", body)[1]["code"] == "key_missing"
    story.truth(first[1]["id"])
    later = story.agent.post("runs", body, key="same")
    assert (later[0], later[1]["state"]) == (200, "completed")
    assert len(story.world.objects()) == 1


def test_an_ended_run_takes_no_steps_and_no_cancel(story: Story) -> None:
    story.apply(manifests.one_step())
    run = story.agent.start()
    story.truth(run)
    another = {"name": "more", "tool": "crm.contact", "arguments": {"email": "x@acme.example"}}
    for path, body in (("steps", another), ("cancel", {"reason": "too late"})):
        status, problem = story.agent.post(f"runs/{run}/{path}", body)
        assert (status, problem["code"]) == (409, "run_over"), path
    assert story.truth(run).state == "completed"
    assert len(story.world.wire("POST")) == 1


def test_a_sealed_run_takes_no_more_steps_and_goes_on(story: Story) -> None:
    story.apply(manifests.one_step())
    run = story.agent.start(None, open=True)
    story.agent.step(run, "first", "crm.contact", email="a@acme.example")
    assert story.agent.post(f"runs/{run}/seal")[0] == 202
    assert story.agent.post(f"runs/{run}/seal")[0] == 200
    late = {"name": "late", "tool": "crm.contact", "arguments": {"email": "b@acme.example"}}
    status, problem = story.agent.post(f"runs/{run}/steps", late)
    assert (status, problem["code"]) == (409, "sealed")
    truth = story.truth(run)
    assert (truth.state, truth.made["contacts"]) == ("completed", 1)


def test_a_step_asked_for_twice_is_one_and_other_content_under_its_name_is_refused(story: Story) -> None:
    story.apply(manifests.one_step())
    run = story.agent.start(None, open=True)
    body = {"name": "first", "tool": "crm.contact", "arguments": {"email": "a@acme.example"}}
    first = story.agent.post(f"runs/{run}/steps", body)
    story.settle()
    again = story.agent.post(f"runs/{run}/steps", body)
    assert (first[0], again[0], again[1]["state"]) == (202, 200, "done")
    status, problem = story.agent.post(f"runs/{run}/steps", {**body, "arguments": {"email": "b@acme.example"}})
    assert (status, problem["code"], problem["errors"][0]["path"]) == (409, "name_taken", "name")
    story.agent.post(f"runs/{run}/seal")
    assert story.truth(run).made["contacts"] == 1


def test_what_nobody_knows_or_what_does_not_fit_changes_nothing(story: Story) -> None:
    story.apply(manifests.one_step())
    subject = {"type": "customer", "id": "c1"}
    for body, path in (
        ({"workflow": "unboarding", "subject": subject}, "workflow"),
        ({"workflow": "onboarding", "subject": subject, "input": {}}, "input.email"),
        ({"workflow": "onboarding", "subject": subject, "input": {"email": 5}}, "input.email"),
        ({"workflow": "onboarding", "version": 7, "subject": subject, "input": {"email": "a"}}, "version"),
        ({"workflow": "onboarding", "subject": subject, "surprise": 1}, "surprise"),
    ):
        status, problem = story.agent.post("runs", body, key=str(uuid.uuid4()))
        assert (status, problem["code"], problem["errors"][0]["path"]) == (400, "invalid", path), problem
    assert story.agent.get("runs")["results"] == []
    run = story.agent.start(None, open=True)
    for step, path in (
        ({"name": "a", "tool": "crm.nothing", "arguments": {}}, "tool"),
        ({"name": "a", "tool": "crm.contact", "arguments": {}}, "arguments.email"),
        ({"name": "a", "tool": "crm.contact", "arguments": {"email": "a", "more": 1}}, "arguments.more"),
        ({"name": "a", "tool": "crm.contact", "arguments": {"email": "a"}, "after": ["b"]}, "after"),
    ):
        status, problem = story.agent.post(f"runs/{run}/steps", step)
        assert (status, problem["errors"][0]["path"]) == (400, path), problem
    story.settle()
    assert story.world.wire() == []


def test_cancelling_undoes_what_stands_and_sends_nothing_more(story: Story) -> None:
    story.apply(manifests.three_steps())
    gate = story.world.hold("/members")
    run = story.agent.start()
    story.until(lambda: gate.arrived(timeout=0))
    status, told = story.agent.post(f"runs/{run}/cancel", {"reason": "the customer left"})
    assert (status, told["phase"]) == (202, "unwinding")
    another = {"name": "x", "tool": "crm.contact", "arguments": {"email": "x@acme.example"}}
    status, problem = story.agent.post(f"runs/{run}/steps", another)
    assert (status, problem["code"]) == (409, "run_over")
    gate.release()
    truth = story.truth(run)
    assert (truth.state, truth.standing.total(), truth.made["bookings"]) == ("compensated", 0, 0)
    assert truth.run["end_reason"] == "the customer left"


def test_cancelling_with_hold_leaves_what_stands_to_a_person(story: Story) -> None:
    story.apply(manifests.three_steps())
    gate = story.world.hold("/members")
    run = story.agent.start()
    story.until(lambda: gate.arrived(timeout=0))
    story.agent.post(f"runs/{run}/cancel", {"reason": "wait for legal", "then": "hold"})
    gate.release()
    truth = story.truth(run)
    assert (truth.state, truth.standing.total(), truth.made["bookings"]) == ("stuck", 2, 0)
    assert story.world.wire("DELETE") == []


def test_a_grant_that_is_taken_away_stops_what_has_not_left_and_not_the_undoing(story: Story) -> None:
    story.apply(manifests.three_steps())
    gate = story.world.hold("/members")
    run = story.agent.start()
    story.until(lambda: gate.arrived(timeout=0))
    models.Agent.objects.update(tools=[])
    gate.release()
    truth = story.truth(run)
    assert (truth.state, truth.made["bookings"], truth.standing.total()) == ("compensated", 0, 0)
    assert truth.details["booking forward"]["reason"] == "policy"
    assert truth.details["booking forward"]["decisions"][0]["rule"] == "not-granted"

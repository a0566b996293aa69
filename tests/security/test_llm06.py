"""Excessive agency (OWASP LLM06:2025): each numbered mitigation, as what an agent that was talked over can't do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.api.conftest import Caller, problem, read
from tests.authority.asking import activate, approve
from tests.engine.simulated import World
from tests.tools.calls import http_tool
from workflows.authority import keys
from workflows.drain import drain_once
from workflows.engine.advance import advance
from workflows.errors import Invalid
from workflows.models import Agent, Approval, Decision, Effect, Entry, Step, Tool
from workflows.tools.defaults import KINDS
from workflows.tools.manifest import load_texts
from workflows.visible import is_hidden

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


@pytest.fixture
def run(caller: Caller) -> str:
    """An open run of an agent that has every right."""
    return str(caller.start(workflow=None, open=True)["id"])


def add(caller: Caller, run: str, tool: str = "sim.act", name: str = "first", **arguments: Any) -> Any:
    return caller.post(f"runs/{run}/steps", {"name": name, "tool": tool, "arguments": arguments})


def test_llm06_1_an_agent_has_no_tool_but_those_it_was_given(
    world: World, caller: Caller, run: str, tool: Make
) -> None:
    tool("pay.out")
    Agent.objects.update(tools=["sim.act"])
    assert [one["name"] for one in read(caller.get("tools"))["results"]] == ["sim.act"]
    assert problem(add(caller, run, "pay.out")) == (403, "denied", [])
    assert not Step.objects.exists()
    assert Decision.objects.get().verdict == "deny"
    assert add(caller, run).status_code == 202


def test_llm06_2_of_a_tool_it_has_only_the_functions_it_was_given(
    world: World, caller: Caller, run: str, tool: Make
) -> None:
    tool("crm.find", effect_class="read_only")
    tool("crm.change")
    Agent.objects.update(narrowed={"*": ["read", "verify"]})
    assert [one["name"] for one in read(caller.get("tools"))["results"]] == ["crm.find"]
    assert problem(add(caller, run, "crm.change")) == (403, "denied", [])
    assert add(caller, run, "crm.find").status_code == 202
    Agent.objects.update(narrowed={})
    assert problem(add(caller, run, name="more", sum=7)) == (400, "invalid", ["arguments.sum"]), "no field beside these"


OPEN_ENDED = """
tools:
  web.fetch:
    version: 1
    kind: http
    profile: {{effect_class: read_only, access: read_only, environment: untrusted, observability: none, autonomy: auto,
              privileges: [], owner: desk, customer_visible: false, residue: none}}
    idempotency: {{by: none}}
    arguments: {{type: object, required: [at], properties: {{at: {{type: string}}}}}}
    execute: {{method: GET, url: "{url}", acknowledged: "status == 200"}}
"""


@pytest.mark.parametrize("url", ["${ args.at }", "https://${ args.at }/x", "https://api.example:${ args.at }/"])
def test_llm06_3_no_tool_takes_an_address_or_code_from_its_arguments(
    world: World, caller: Caller, run: str, tool: Make, url: str
) -> None:
    assert set(KINDS) <= {"http", "smtp", "caldav", "mcp", "python"}, "none runs what an agent wrote"
    with pytest.raises(Invalid):
        load_texts([("open.yaml", OPEN_ENDED.format(url=url))], env_names=set())
    tool("crm.note")
    assert add(caller, run, "crm.note", text="${ env.SECRET } ${ secret('KEY') }").status_code == 202
    drain_once()
    assert Effect.objects.get().arguments == {"text": "${ env.SECRET } ${ secret('KEY') }"}, "data is never evaluated"


def test_llm06_4_reading_and_writing_outside_have_credentials_of_their_own_and_no_agent_sees_any(
    caller: Caller, run: str
) -> None:
    signed = "headers: {Authorization: \"${ secret('%s') }\"}"
    look = f'method: GET, url: "http://127.0.0.1:1/things", {signed % "READ"}, found: "true", absent: "false"'
    made = http_tool("http://127.0.0.1:1", execute=signed % "WRITE", verify=look).spec
    assert ("WRITE" in str(made["execute"]), "READ" in str(made["execute"])) == (True, False)
    assert ("WRITE" in str(made["verify"]), "READ" in str(made["verify"])) == (False, True)
    add(caller, run)
    Tool.objects.filter(name="sim.act").update(spec={**Tool.objects.get(name="sim.act").spec, **made})
    drain_once()
    for path in ("tools", f"runs/{run}", f"effects/{Effect.objects.get().id}"):
        answer = caller.get(path)
        assert answer.status_code == 200
        assert not any(name in answer.content.decode() for name in ("WRITE", "READ"))


def test_llm06_5_an_agent_acts_in_the_context_of_who_it_acts_for(
    world: World, caller: Caller, tool: Make, workflow: Make
) -> None:
    tool("crm.change")
    activate(
        "{name: mine, when: \"agent.on_behalf_of == 'person:night-desk'\", then: allow}",
        "{name: others, when: 'true', then: {deny: not for them}}",
        expect="deny",
    )
    flow = workflow("crm.change").name
    caller.key = keys.new_key(caller.agent, by="command", for_whom="person:night-desk")
    theirs = caller.start(workflow=flow)["id"]
    caller.key = keys.new_key(caller.agent, by="command", for_whom="person:day-desk")
    assert problem(caller.get(f"runs/{theirs}")) == (404, "not_found", [])
    mine = caller.start(workflow=flow)["id"]
    drain_once()
    states = {str(effect.run_id): (effect.on_behalf_of, effect.state) for effect in Effect.objects.all()}
    assert states == {theirs: ("person:night-desk", "verified"), mine: ("person:day-desk", "cancelled")}


def test_llm06_6_what_policy_asks_about_is_not_sent_before_a_person_said_yes(
    world: World, caller: Caller, run: str, tool: Make, person: Make
) -> None:
    tool("pay.out", environment="untrusted")
    add(caller, run, "pay.out", amount=4999)
    drain_once()
    assert (Effect.objects.get().reason, world.sends) == ("approval", [])
    assert problem(caller.post(f"approvals/{Approval.objects.get().id}", {"resolved_by": "day-desk"}))[0] == 404
    approve(Approval.objects.get(), person("day-desk", "approver"))
    drain_once()
    assert len(world.sends) == 1
    assert Effect.objects.get().state == "verified"


def test_llm06_7_each_send_is_judged_where_it_leaves_on_what_is_true_then(
    world: World, caller: Caller, run: str, tool: Make
) -> None:
    tool("crm.change")
    add(caller, run, "crm.change")
    advance()
    Agent.objects.update(tools=[])
    drain_once()
    assert world.sends == []
    assert Effect.objects.get().reason == "policy"
    Agent.objects.update(tools=["*"])
    world.script("crm.change", "execute", "temporary")
    again = caller.start(workflow=None, open=True)["id"]
    add(caller, again, "crm.change")
    drain_once()
    effect = Effect.objects.get(run=again)
    assert effect.state == "verified"
    assert effect.decisions.count() == effect.attempts == len(world.sends) == 2, "a decision for each send"


def test_llm06_8_what_came_in_is_checked_and_what_goes_out_to_people_is_harmless(
    world: World, caller: Caller, run: str, tool: Make, person: Make, browse: Make
) -> None:
    tool("crm.note")
    hostile = "<script>window.__x=1</script>\u202eevil\u200b"
    assert problem(add(caller, run, "crm.note", text="a\x00b")) == (400, "invalid", ["arguments.text"])
    add(caller, run, "crm.note", text=hostile)
    drain_once()
    effect = Effect.objects.get()
    assert effect.arguments == {"text": hostile}, "kept as it came"
    page = browse(person("reader", "manager")).get(f"/runs/{run}/effects/{effect.id}").content.decode()
    assert "<script>window" not in page
    assert "&lt;script&gt;window" in page
    assert not any(is_hidden(char, block=True) for char in page)


def test_llm06_damage_is_bounded_by_rates_and_everything_that_was_done_can_be_read(
    world: World, caller: Caller, run: str, tool: Make
) -> None:
    tool("mail.send", limits={"concurrent": 8, "per_minute": 3})
    for n in range(10):
        assert caller.post(
            f"runs/{run}/steps", {"name": f"s{n}", "tool": "mail.send", "arguments": {}, "after": []}
        ).status_code == 202  # fmt: skip
    drain_once()
    assert len(world.sends) == 3
    assert Effect.objects.filter(state="blocked", reason="rate").count() == 7
    for effect in Effect.objects.filter(attempts=1):
        told = list(Entry.objects.filter(subject_id=effect.id).order_by("seq").values_list("event", flat=True))
        assert told[:2] == ["create", "dispatch"]
        assert effect.decisions.count() == effect.sends.count() == 1

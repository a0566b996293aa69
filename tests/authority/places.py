"""One of everything there is, of two teams' agents: for tests of who may see what, and do what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from repairs.acts import glass, saved_view
from repairs.bulk import choosing
from repairs.choice import Choice
from repairs.desk import desk_for
from repairs.models import Act, Case, Evidence
from repairs.models.batch import BatchAct
from repairs.models.glass import Broken
from tests.engine.simulated import World
from workflows.authority import keys, policies, raising, stops
from workflows.drain import drain_once
from workflows.engine.start import StartBody, start_run
from workflows.models import Agent, Approval, Effect, Run, Team

Make = Callable[..., Any]
MARK = "theirs7f3"  # stands in all that the other team's agent brought along
SHARED: dict[str, Any] = {
    "name": "crm.contact",
    "version": 1,
    "policy_id": "",
    "kind": "look_again",
}  # names no customer


@pytest.fixture
def places(world: World, tool: Make, workflow: Make) -> dict[str, dict[str, Any]]:
    """{"ours": …, "theirs": …}: for each team's agent the ids of one of everything there is."""
    tool("crm.contact")
    tool("mail.send")
    tool("pay.out", autonomy="ask")
    stuck, asks = workflow("crm.contact", "mail.send"), workflow("pay.out")
    made = {}
    for team, word in (("one", "ours"), ("two", MARK)):
        Team.objects.get_or_create(name=team)
        agent = Agent.objects.create(name=f"agent {word}", team=team, tools=["*"], workflows=["*"])
        world.script("mail.send", "execute", "refused")
        world.script("crm.contact", "compensate", "refused")
        runs = []
        for flow in (stuck, asks):
            subject = {"type": "customer", "id": f"id-{word}", "label": f"Customer {word}"}
            body = StartBody(workflow=flow.name, subject=subject, digest="1", external_id=f"order-{word}")
            runs.append(start_run(agent, f"key-{word}-{flow.name}", body)[0])
            drain_once()
        made["ours" if word == "ours" else "theirs"] = _ids(agent, word, *runs)
    return made


def _ids(agent: Agent, word: str, stuck: Run, asks: Run) -> dict[str, Any]:
    case, present = Case.objects.get(run=stuck), policies.in_force()
    assert present is not None
    person = User.objects.create_user(f"somebody-{word}", is_staff=True)
    effect = Effect.objects.get(run=stuck, kind="compensation")
    proposal = Act.objects.create(
        case=case, kind="propose_write_off", by=person, why=f"why {word}", outcome="proposed", at=case.opened_at,
        effect=effect, facts={"seq": effect.seq},
    )  # fmt: skip
    text = f"seen {word}".encode()
    evidence = Evidence.objects.create(act=proposal, name="text", size=len(text), sha256="", content=text)
    key = keys.prefix_of(keys.new_key(agent, by="command", why=f"why {word}"))
    raising.change(f"agent:{agent.name}", "ever", {"calls": 5}, by="person:somebody", why=f"why {word}")
    budget, more = raising.change(f"agent:{agent.name}", "ever", {"calls": 9}, by="person:somebody", why=f"why {word}")
    assert more
    batch = choosing.freeze(desk_for(person), BatchAct.CLAIM, Case.objects.filter(id=case.id), f"chosen {word}")
    batch.state, batch.needs_second, batch.why, batch.asked_at = "asked", True, f"why {word}", case.opened_at
    batch.save()
    saved = saved_view.save(person, name=f"view {word}", view="all", choice=Choice(team=word))
    said = f"wrote off {word}"
    broken = glass.broke(Broken.WRITE_OFF, proposal.id, said, by=person, why=f"why {word}", team=agent.team)
    stop = stops.freeze("agent", agent.name, by="person:somebody", why=f"why {word}").stop
    return {
        "number": case.number,
        "run_id": stuck.id,
        "effect_id": effect.id,
        "act_id": proposal.id,
        "evidence_id": evidence.id,
        "batch_id": batch.id,
        "saved_id": saved.id,
        "glass_id": broken.id,
        "agent_id": agent.id,
        "prefix": key,
        "approval_id": Approval.objects.get(run=asks).id,
        "stop_id": stop.id,
        "budget_id": budget.id,
        "change_id": more.id,
        "policy_id": present.id,
    }

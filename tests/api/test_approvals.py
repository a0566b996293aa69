"""What an agent is told of a question to people: that it waits, for what, until when, and how it ended."""

from __future__ import annotations

import jsonschema
import pytest
from django.contrib.auth.models import Group, User

from tests.api.conftest import Caller, read
from tests.engine.simulated import WORLD
from workflows import toolbox
from workflows.api.schemas import APPROVAL
from workflows.authority import approvals
from workflows.drain import drain_once
from workflows.models import Approval, Tool

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_effect_shows_the_approvals_it_waits_for_and_had(caller: Caller) -> None:
    tool = Tool.objects.get(name="sim.act")
    Tool.objects.filter(id=tool.id).update(spec={**tool.spec, "profile": {**tool.profile, "autonomy": "ask"}})
    toolbox.forget()
    run = caller.start()
    drain_once(slots=4)
    (effect,) = read(caller.get(f"runs/{run['id']}"))["effects"]
    approval = Approval.objects.get(effect=effect["id"])
    assert (effect["state"], effect["reason"]) == ("blocked", "approval")
    assert effect["blocked_by"][0]["approval"] == str(approval.id)
    (asked,) = read(caller.get(f"effects/{effect['id']}"))["approvals"]
    jsonschema.validate(asked, APPROVAL)
    assert (asked["state"], asked["digest"], asked["reason"]) == ("asked", approval.digest, "asks")
    assert (asked["needed"], asked["approved"], asked["decided_at"]) == (1, 0, None)
    assert asked["expires_at"].startswith(f"{approval.expires_at:%Y-%m-%dT%H:%M:%S}")

    person = User.objects.create_user("desk", is_staff=True)
    person.groups.set(Group.objects.filter(name="approver"))
    approvals.vote(approval.id, by=person, why="as agreed", seen_digest=approval.digest)
    drain_once(slots=4)
    (spent,) = read(caller.get(f"effects/{effect['id']}"))["approvals"]
    assert (spent["state"], spent["approved"]) == ("spent", 1)
    assert "desk" not in str(spent)
    assert len(WORLD.sends) == 1

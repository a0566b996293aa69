"""The fresh look at a target before persons decide: what is read, what can't be, and what a change voids."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from tests.engine import simulated
from tests.engine.simulated import World
from workflows import toolbox
from workflows.authority import approvals
from workflows.drain import drain_once
from workflows.engine import peek
from workflows.models import Approval, Entry, Tool
from workflows.outcomes import Sighting, Verdict
from workflows.states import EffectState
from workflows.tools.call import Call

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


class Page(simulated.SimTool):
    """A tool that changes something with a version; `LOOK` is what stands there now."""

    now: dict[str, Any] = {}
    reads = 0

    def before(self, call: Call) -> Sighting:
        Page.reads += 1
        if not Page.now:
            return Sighting(verdict=Verdict.INCONCLUSIVE, reason="no connection", reached=False)
        image = {"title": Page.now["title"]}
        return Sighting(verdict=Verdict.FOUND, result=image, evidence={"version": Page.now["version"]})


@pytest.fixture
def page(tool: Make, workflow: Make, run_through: Make, world: World) -> Callable[..., Approval]:
    """An approval of a change to what has a version."""

    def make() -> Approval:
        Page.now, Page.reads = {"title": "old", "version": "v1"}, 0
        stored = tool("page.edit", autonomy="ask", verify=True)
        spec = {**stored.spec, "class": f"{__name__}.Page", "before": {}}
        Tool.objects.filter(id=stored.id).update(spec=spec)
        toolbox.forget()
        run = run_through(workflow("page.edit"))
        return Approval.objects.get(run=run, state="asked")

    return make


def anew(approval: Approval) -> Approval:
    return Approval.objects.get(id=approval.id)


def test_what_is_asked_is_read_at_once_and_nothing_is_sent(page: Make, world: World) -> None:
    approval = page()
    assert world.sends == []
    assert approval.target["image"] == {"title": "old"}
    assert (approval.target["version"], approval.target["by"]) == ("v1", "before")
    assert approval.fields["target_version"] == "v1"
    assert approval.read_due is None
    assert Page.reads == 1
    drain_once()
    assert Page.reads == 1
    assert [e.event for e in Entry.objects.filter(subject_id=approval.id).order_by("seq")] == ["ask", "read_target"]


def test_a_tool_that_keeps_no_image_is_looked_with(tool: Make, workflow: Make, run_through: Make, world: World) -> None:
    tool("t.a", autonomy="ask")
    tool("t.b", autonomy="ask", verify=False)
    seen = Approval.objects.get(run=run_through(workflow("t.a")))
    assert (seen.target["by"], seen.target["verdict"], seen.target["version"]) == ("look", "absent", None)
    blind = Approval.objects.get(run=run_through(workflow("t.b")))
    assert blind.target["failed"]["reason"] == "its tool has no way to look"
    assert "image" not in blind.target


def test_another_read_is_kept_beside_the_first(page: Make) -> None:
    approval = page()
    Page.now = {"title": "new", "version": "v2"}
    assert peek.ask(approval.id)
    drain_once()
    now = anew(approval)
    assert (now.target["image"], now.target["first"]["image"]) == ({"title": "new"}, {"title": "old"})
    assert now.digest != approval.digest
    assert Page.reads == 2


def test_a_target_that_cannot_be_read_keeps_what_was_read_before(page: Make) -> None:
    approval = page()
    Page.now = {}
    peek.ask(approval.id)
    drain_once()
    now = anew(approval)
    assert now.target["failed"]["reason"] == "no connection"
    assert now.target["image"] == {"title": "old"}
    assert now.digest == approval.digest


def test_who_saw_another_target_approves_nothing(page: Make, person: Make, world: World) -> None:
    approval = page()
    Page.now = {"title": "new", "version": "v2"}
    peek.ask(approval.id)
    drain_once()
    with pytest.raises(Exception, match="has changed since this page was opened"):
        approvals.vote(approval.id, by=person("desk", "approver"), why="yes", seen_digest=approval.digest)
    assert world.sends == []


def test_what_nobody_is_asked_about_is_not_read(page: Make, person: Make) -> None:
    approval = page()
    approvals.refuse(approval.id, by=person("desk", "approver"), why="no", seen_digest=approval.digest)
    assert not peek.ask(approval.id)
    drain_once()
    assert Page.reads == 1


def test_a_read_that_its_worker_did_not_end_is_made_by_another(page: Make, world: World) -> None:
    approval = page()
    peek.ask(approval.id)
    assert [one.id for one, _ in peek.claim(5)] == [approval.id]
    assert peek.claim(5) == []
    Approval.objects.filter(id=approval.id).update(read_due=approval.asked_at - dt.timedelta(seconds=1))
    drain_once()
    assert Page.reads == 2
    assert anew(approval).read_due is None
    assert anew(approval).effect.state == EffectState.BLOCKED

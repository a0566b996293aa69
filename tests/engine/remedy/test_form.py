"""What may be asked for as a remedy: once, as it was seen, by a tool that may, of what can be made good."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.authority.asking import activated
from tests.authority.test_policy import document, rule
from tests.engine.remedy.asking import BY, ask, of
from tests.engine.simulated import World
from workflows.authority import versions
from workflows.drain import drain_once
from workflows.engine import people
from workflows.engine import remedy as engine
from workflows.engine.remedy import RemedyBody, call_off, offered, plan
from workflows.errors import Denied, Invalid, NotFound, StaleFence
from workflows.models import Effect, Entry, Run, Step, Tool

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_the_same_form_sent_twice_asks_once_and_the_same_act_again_must_be_meant(stuck: Run) -> None:
    first = ask(stuck, request="form-1")
    assert ask(stuck, request="form-1").id == first.id
    with pytest.raises(Invalid, match="asked for already"):
        ask(stuck, request="form-2")
    second = ask(stuck, request="form-2", again=True)
    assert second.key != first.key
    assert [s.name for s in Step.objects.filter(run=stuck, remedy=True).order_by("ordinal")] == ["remedy-1", "remedy-2"]


def test_what_changed_since_it_was_seen_is_not_asked_for(stuck: Run) -> None:
    seen = plan(stuck.id, RemedyBody(tool="t.refund", arguments={"amount": 480})).effect
    assert not Step.objects.filter(run=stuck, remedy=True).exists(), "a plan writes nothing"
    with pytest.raises(StaleFence, match="isn't what you saw"):
        ask(stuck, arguments={"amount": 481}, digest=seen.digest)
    assert ask(stuck, digest=seen.digest).digest == seen.digest


def test_what_is_under_way_only_reads_or_does_not_fit_is_refused_whole(
    world: World, stuck: Run, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.read", effect_class="read_only", undo=False)
    with pytest.raises(Invalid, match="made good"):
        ask(stuck, "t.read")
    with pytest.raises(Invalid, match="unknown tool"):
        ask(stuck, "t.nothing")
    people.look_again(of(stuck, "charge").id, by=BY, why="once more")
    with pytest.raises(Invalid, match="still under way"):
        ask(stuck, of=of(stuck, "charge"))
    assert not Step.objects.filter(run=stuck, remedy=True).exists()


def test_what_may_not_be_made_good_or_not_by_that_tool_is_refused(
    world: World, over: Run, run_through: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NotFound, match="no such effect"):
        ask(run_through(over.workflow), of=of(over, "charge"))
    done = ask(over)
    drain_once(slots=8)
    with pytest.raises(Invalid, match="a remedy itself"):
        ask(over, of=done, again=True)
    versions.withdraw(Tool.objects.get(name="t.refund"), by=BY, why="it pays twice")
    assert [one.name for one in offered(over.id)] == ["t.charge"]
    with pytest.raises(Denied, match="withdrawn"):
        ask(over, arguments={"amount": 1})
    monkeypatch.setattr(engine, "MOST", 1)
    with pytest.raises(Invalid) as refused:
        ask(over, "t.charge")
    assert "at most 1 remedies" in str(refused.value.flaws[0])
    assert Step.objects.filter(remedy=True).count() == 1


def test_an_undoing_is_made_good_in_place_of_what_it_undoes(
    world: World, tool: Make, workflow: Make, run_through: Make, refund: Any
) -> None:
    tool("t.charge")
    tool("t.mail")
    world.script("t.mail", "execute", "refused")
    world.script("t.charge", "compensate", "refused")
    run = run_through(workflow("t.charge", "t.mail"))
    with pytest.raises(Invalid, match="name what it undoes"):
        ask(run, of=Effect.objects.get(run=run, kind="compensation"))
    assert ask(run, of=of(run, "charge")).makes_good_id == of(run, "charge").id


def test_what_was_called_off_or_made_good_another_act_must_be_meant_once_more(over: Run, tool: Make) -> None:
    tool("t.pay", undo=False, effect_class="irreversible")
    first = ask(over, "t.pay")
    call_off(first.id, by=BY, why="settled by phone")
    second = ask(over, "t.pay", request="later")
    assert ask(over, "t.pay", of=of(over, "charge"), request="for that").key not in (first.key, second.key)


def test_a_rule_that_needs_the_arguments_keeps_a_tool_from_being_offered(over: Run, tool: Make) -> None:
    expect = "expect: [{facts: {arguments: {amount: 1}}, verdict: allow}]"
    activated(document(rule("arguments.amount < 100"), expect=expect))
    assert [one.name for one in offered(over.id)] == ["t.charge", "t.refund"]
    with pytest.raises(Denied):
        ask(over)


def test_who_asked_and_why_stand_in_the_journal(stuck: Run) -> None:
    made = ask(stuck)
    created = Entry.objects.get(subject_id=made.id, event="create")
    assert created.actor == BY
    assert Entry.objects.filter(subject_id=stuck.id, event="remedy", actor=BY).exists()

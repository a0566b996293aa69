"""What people may do to a case, who may, and what is kept of it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from repairs.acts import claim, look_again, turn_back, write_off
from repairs.models import Act, Case
from tests.engine.simulated import World
from workflows.drain import drain_once
from workflows.engine import people
from workflows.errors import Denied, Invalid, NotFound, StaleFence
from workflows.models import Effect, Entry, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


@pytest.fixture
def kim(person: Make) -> User:
    user: User = person("kim", "repairer")
    return user


@pytest.fixture
def lou(person: Make) -> User:
    user: User = person("lou", "repairer", "approver")
    return user


def item() -> Effect:
    return Effect.objects.get(state="stuck")


def now_of(case: Case) -> Case:
    return Case.objects.get(id=case.id)


def kept(case: Case) -> list[tuple[str, str, str]]:
    return [(act.kind, act.by.username, act.outcome) for act in Act.objects.filter(case=case).select_related("by")]


def test_looking_again_asks_the_engine_claims_the_case_and_keeps_who_and_why(
    stuck: Make, kim: User, world: World
) -> None:
    case, effect = stuck(), item()
    world.things.clear()
    look_again.look_again(case.id, effect_id=effect.id, by=kim, why=" I removed\n it  by hand ", fence=case.fence)
    assert kept(case) == [("claim", "kim", "done"), ("look_again", "kim", "asked")]
    assert Act.objects.get(kind="look_again").why == "I removed it by hand"
    entry = Entry.objects.get(subject_id=case.id, event="look_again")
    assert entry.actor == "person:kim"
    assert Entry.objects.get(subject_id=effect.id, event="look_again").actor == "person:kim"
    drain_once()
    assert now_of(case).state == "resolved"


@pytest.mark.parametrize("why", ["", "   ", "x" * 1001])
def test_an_act_without_a_sound_reason_changes_nothing(stuck: Make, kim: User, why: str) -> None:
    case, effect = stuck(), item()
    with pytest.raises(Invalid, match="Say why"):
        look_again.look_again(case.id, effect_id=effect.id, by=kim, why=why, fence=case.fence)
    assert (item().id, kept(case)) == (effect.id, [])


def test_somebody_without_the_role_can_do_nothing(stuck: Make, person: Make) -> None:
    case, effect = stuck(), item()
    reader = person("ray", "manager")
    with pytest.raises(Denied, match="repairer"):
        look_again.look_again(case.id, effect_id=effect.id, by=reader, why="x", fence=0)
    with pytest.raises(Denied, match="repairer"):
        claim.claim(case.id, by=reader)
    assert kept(case) == []


def test_what_the_engine_refuses_changes_nothing_and_is_kept(stuck: Make, kim: User) -> None:
    case, effect = stuck(verify=False), item()
    with pytest.raises(Invalid, match="no look"):
        look_again.look_again(case.id, effect_id=effect.id, by=kim, why="to be sure", fence=case.fence)
    act = Act.objects.get(case=case)
    assert (act.kind, act.outcome, act.effect_id) == ("look_again", "refused", effect.id)
    assert "no look" in act.detail
    assert now_of(case).claimed_by is None, "a refused act must not leave a claim behind"


def test_an_effect_of_another_run_can_not_be_reached_through_a_case(stuck: Make, kim: User) -> None:
    case, first = stuck(), item()
    other = stuck()
    with pytest.raises(NotFound):
        look_again.look_again(other.id, effect_id=first.id, by=kim, why="x", fence=other.fence)
    assert kept(case) == kept(other) == []


def test_a_case_in_somebody_elses_hands_is_left_alone_until_their_lease_ends(stuck: Make, kim: User, lou: User) -> None:
    case, effect = stuck(), item()
    claim.claim(case.id, by=lou)
    with pytest.raises(StaleFence, match="lou holds C-"):
        look_again.look_again(case.id, effect_id=effect.id, by=kim, why="x", fence=case.fence)
    with pytest.raises(StaleFence, match="Say why if you take it over"):
        claim.claim(case.id, by=kim)
    Case.objects.filter(id=case.id).update(lease_until=case.opened_at - dt.timedelta(seconds=1))
    with pytest.raises(StaleFence, match="other hands"):
        look_again.look_again(case.id, effect_id=effect.id, by=kim, why="x", fence=case.fence)
    look_again.look_again(case.id, effect_id=effect.id, by=kim, why="x", fence=now_of(case).fence)


def test_taking_over_needs_a_reason_and_makes_the_former_holders_page_stale(stuck: Make, kim: User, lou: User) -> None:
    case, effect = stuck(), item()
    claim.claim(case.id, by=lou)
    fence = now_of(case).fence
    claim.claim(case.id, by=kim, why="lou went home")
    assert kept(case) == [("claim", "lou", "done"), ("take_over", "kim", "done")]
    with pytest.raises(StaleFence, match="kim holds"):
        look_again.look_again(case.id, effect_id=effect.id, by=lou, why="x", fence=fence)
    claim.release(case.id, by=lou)
    assert now_of(case).claimed_by == kim, "nobody gives back what is another's"
    claim.release(case.id, by=kim)
    assert now_of(case).claimed_by is None


def test_a_write_off_takes_two_different_people(stuck: Make, kim: User, lou: User, person: Make) -> None:
    case, effect = stuck(), item()
    write_off.propose(case.id, effect_id=effect.id, by=lou, why="the customer keeps it", fence=0, seq=effect.seq)
    proposal = Act.objects.get(kind="propose_write_off")
    assert now_of(case).state == "waiting"
    assert item().state == "stuck", "a proposal writes nothing off"
    with pytest.raises(Denied, match="another person"):
        write_off.confirm(proposal.id, by=lou, why="yes")
    with pytest.raises(Denied, match="approver"):
        write_off.confirm(proposal.id, by=kim, why="yes")
    write_off.confirm(proposal.id, by=person("max", "approver"), why="agreed with the desk")
    act = Act.objects.get(kind="write_off")
    assert (act.by.username, act.second, act.alone, act.outcome) == ("max", lou, False, "done")
    detail = Effect.objects.get(id=effect.id).detail
    assert detail == "the customer keeps it (proposed by lou; confirmed: agreed with the desk)"
    with pytest.raises(StaleFence):
        write_off.confirm(proposal.id, by=person("ida", "approver"), why="yes")
    drain_once()
    assert now_of(case).state == "written_off"


def test_what_changed_since_it_was_proposed_can_not_be_confirmed(stuck: Make, kim: User, lou: User) -> None:
    case, effect = stuck(), item()
    with pytest.raises(StaleFence, match="changed"):
        write_off.propose(case.id, effect_id=effect.id, by=kim, why="x", fence=0, seq=effect.seq - 1)
    write_off.propose(case.id, effect_id=effect.id, by=kim, why="x", fence=0, seq=effect.seq)
    people.look_again(effect.id, by="person:other", why="maybe")
    with pytest.raises(StaleFence, match="changed"):
        write_off.confirm(Act.objects.get(kind="propose_write_off").id, by=lou, why="yes")
    assert not Effect.objects.filter(state="written_off").exists()


def test_a_declined_write_off_leaves_the_case_open(stuck: Make, kim: User, lou: User) -> None:
    case, effect = stuck(), item()
    write_off.propose(case.id, effect_id=effect.id, by=kim, why="x", fence=0, seq=effect.seq)
    proposal = Act.objects.get(kind="propose_write_off")
    write_off.decline(proposal.id, by=lou, why="call them first")
    assert (now_of(case).state, item().state) == ("open", "stuck")
    with pytest.raises(StaleFence, match="answered"):
        write_off.confirm(proposal.id, by=lou, why="yes")
    write_off.propose(case.id, effect_id=effect.id, by=kim, why="again", fence=1, seq=effect.seq)


def test_one_person_alone_writes_off_only_where_that_is_allowed_and_the_journal_says_so(
    stuck: Make, kim: User, settings: Any
) -> None:
    case, effect = stuck(), item()
    settings.FOUR_EYES = "required"
    with pytest.raises(Denied, match="two people"):
        write_off.alone(case.id, effect_id=effect.id, by=kim, why="x", fence=0, seq=effect.seq)
    settings.FOUR_EYES = "when_possible"
    write_off.alone(case.id, effect_id=effect.id, by=kim, why="nobody else is here", fence=0, seq=effect.seq)
    act = Act.objects.get(kind="write_off")
    assert (act.alone, act.second) == (True, None)
    payload = Entry.objects.get(subject_id=case.id, event="write_off")
    assert payload.actor == "person:kim"
    assert Effect.objects.get(id=effect.id).detail == "nobody else is here (alone)"


def test_a_held_run_is_turned_back_by_a_person(
    world: World, tool: Make, workflow: Make, run_through: Make, kim: User
) -> None:
    tool("crm.contact")
    tool("mail.send")
    world.script("mail.send", "execute", "refused")
    run = run_through(workflow("crm.contact", "mail.send", on_failure="hold"))
    case = Case.objects.get(run=run)
    assert case.sentence.endswith(
        "the work stopped half way, and 1 of its effects stands;"
        " a step failed, and this workflow is told to stop there."
    )
    turn_back.turn_back(case.id, by=kim, why="the order was withdrawn", fence=case.fence)
    drain_once()
    assert Run.objects.get(id=run.id).state == "repaired"
    assert (now_of(case).state, world.things) == ("resolved", {})


def test_a_held_run_is_written_off_by_two_people(
    world: World, tool: Make, workflow: Make, run_through: Make, kim: User, lou: User
) -> None:
    tool("crm.contact")
    tool("mail.send")
    world.script("mail.send", "execute", "refused")
    run = run_through(workflow("crm.contact", "mail.send", on_failure="hold"))
    case = Case.objects.get(run=run)
    write_off.propose(case.id, effect_id=None, by=kim, why="it may stay", fence=0, seq=run.seq)
    write_off.confirm(Act.objects.get(kind="propose_write_off").id, by=lou, why="yes")
    drain_once()
    assert Run.objects.get(id=run.id).state == "written_off"
    assert now_of(case).state == "written_off"


def test_acts_on_what_does_not_exist_are_refused(kim: User, lou: User) -> None:
    nothing = Act().id
    with pytest.raises(NotFound):
        claim.claim(nothing, by=kim)
    with pytest.raises(NotFound):
        write_off.confirm(nothing, by=lou, why="x")
    with pytest.raises(NotFound):
        write_off.decline(nothing, by=lou, why="x")


def test_looking_again_sends_nothing_whatever_it_shows(stuck: Make, kim: User, world: World) -> None:
    case, effect = stuck(), item()
    before = list(world.sends)
    look_again.look_again(case.id, effect_id=effect.id, by=kim, why="did they remove it?", fence=case.fence)
    drain_once()
    assert world.sends == before
    assert item().id == effect.id


def test_a_case_stays_open_while_it_is_looked_at_again(stuck: Make, kim: User, world: World) -> None:
    case, effect = stuck(), item()
    world.script("crm.contact", "look_undone", "inconclusive", "inconclusive", "inconclusive", "inconclusive")
    look_again.look_again(case.id, effect_id=effect.id, by=kim, why="did they remove it?", fence=case.fence)
    drain_once()
    case = now_of(case)
    assert (case.state, case.reopened) == ("open", 0)
    assert case.claimed_by == kim

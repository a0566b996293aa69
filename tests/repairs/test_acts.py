"""What people may do to a case, who may, and what is kept of it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from repairs.acts import claim, look_again, turn_back, write_off
from repairs.models import Act, Case
from repairs.models.act import ActKind
from tests.engine.simulated import World
from tests.repairs.previews import off, proposed, shown
from workflows.drain import drain_once
from workflows.engine import people
from workflows.errors import Denied, Invalid, NotFound, StaleFence
from workflows.models import Effect, Entry, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


@pytest.fixture
def approver(person: Make) -> User:
    user: User = person("approver", "repairer", "approver")
    return user


def item() -> Effect:
    return Effect.objects.get(state="stuck")


def now_of(case: Case) -> Case:
    return Case.objects.get(id=case.id)


def kept(case: Case) -> list[tuple[str, str, str]]:
    return [(act.kind, act.by.username, act.outcome) for act in Act.objects.filter(case=case).select_related("by")]


def test_looking_again_asks_the_engine_claims_the_case_and_keeps_who_and_why(
    stuck: Make, repairer: User, world: World
) -> None:
    case, effect = stuck(), item()
    world.things.clear()
    look_again.look_again(case.id, effect_id=effect.id, by=repairer, why=" I removed\n it  by hand ", fence=case.fence)
    assert kept(case) == [("claim", "repairer", "done"), ("look_again", "repairer", "asked")]
    assert Act.objects.get(kind="look_again").why == "I removed it by hand"
    entry = Entry.objects.get(subject_id=case.id, event="look_again")
    assert entry.actor == "person:repairer"
    assert Entry.objects.get(subject_id=effect.id, event="look_again").actor == "person:repairer"
    drain_once()
    assert now_of(case).state == "resolved"


@pytest.mark.parametrize("why", ["", "   ", "x" * 1001])
def test_an_act_without_a_sound_reason_changes_nothing(stuck: Make, repairer: User, why: str) -> None:
    case, effect = stuck(), item()
    with pytest.raises(Invalid, match="Say why"):
        look_again.look_again(case.id, effect_id=effect.id, by=repairer, why=why, fence=case.fence)
    assert (item().id, kept(case)) == (effect.id, [])


def test_somebody_without_the_role_can_do_nothing(stuck: Make, person: Make) -> None:
    case, effect = stuck(), item()
    reader = person("ray", "manager")
    with pytest.raises(Denied, match="repairer"):
        look_again.look_again(case.id, effect_id=effect.id, by=reader, why="x", fence=0)
    with pytest.raises(Denied, match="repairer"):
        claim.claim(case.id, by=reader)
    assert kept(case) == []


def test_something_is_done_about_a_case_that_is_closed(stuck: Make, repairer: User) -> None:
    case, effect = stuck(), item()
    Case.objects.filter(id=case.id).update(state="resolved", closed_at=case.opened_at)
    with pytest.raises(StaleFence, match="nothing left to do"):
        look_again.look_again(case.id, effect_id=effect.id, by=repairer, why="x", fence=case.fence)
    with pytest.raises(StaleFence, match="nothing to claim"):
        claim.claim(case.id, by=repairer)
    assert (kept(case), now_of(case).claimed_by) == ([], None)


def test_what_the_engine_refuses_changes_nothing_and_is_kept(stuck: Make, repairer: User) -> None:
    case, effect = stuck(verify=False), item()
    with pytest.raises(Invalid, match="no look"):
        look_again.look_again(case.id, effect_id=effect.id, by=repairer, why="to be sure", fence=case.fence)
    act = Act.objects.get(case=case)
    assert (act.kind, act.outcome, act.effect_id) == ("look_again", "refused", effect.id)
    assert "no look" in act.detail
    assert now_of(case).claimed_by is None, "a refused act must not leave a claim behind"


def test_an_effect_of_another_run_can_not_be_reached_through_a_case(stuck: Make, repairer: User) -> None:
    case, first = stuck(), item()
    other = stuck()
    with pytest.raises(NotFound):
        look_again.look_again(other.id, effect_id=first.id, by=repairer, why="x", fence=other.fence)
    assert kept(case) == kept(other) == []


def test_a_case_in_somebody_elses_hands_is_left_alone_until_their_lease_ends(
    stuck: Make, repairer: User, approver: User
) -> None:
    case, effect = stuck(), item()
    claim.claim(case.id, by=approver)
    with pytest.raises(StaleFence, match="approver holds C-"):
        look_again.look_again(case.id, effect_id=effect.id, by=repairer, why="x", fence=case.fence)
    with pytest.raises(StaleFence, match="Say why if you take it over"):
        claim.claim(case.id, by=repairer)
    Case.objects.filter(id=case.id).update(lease_until=case.opened_at - dt.timedelta(seconds=1))
    with pytest.raises(StaleFence, match="other hands"):
        look_again.look_again(case.id, effect_id=effect.id, by=repairer, why="x", fence=case.fence)
    look_again.look_again(case.id, effect_id=effect.id, by=repairer, why="x", fence=now_of(case).fence)


def test_taking_over_needs_a_reason_and_makes_the_former_holders_page_stale(
    stuck: Make, repairer: User, approver: User
) -> None:
    case, effect = stuck(), item()
    claim.claim(case.id, by=approver)
    fence = now_of(case).fence
    claim.claim(case.id, by=repairer, why="approver went home")
    assert kept(case) == [("claim", "approver", "done"), ("take_over", "repairer", "done")]
    with pytest.raises(StaleFence, match="repairer holds"):
        look_again.look_again(case.id, effect_id=effect.id, by=approver, why="x", fence=fence)
    claim.release(case.id, by=approver)
    assert now_of(case).claimed_by == repairer, "nobody gives back what is another's"
    claim.release(case.id, by=repairer)
    assert now_of(case).claimed_by is None


def test_a_write_off_takes_two_different_people(stuck: Make, repairer: User, approver: User, person: Make) -> None:
    case, effect = stuck(), item()
    proposal = proposed(case, approver, "the customer keeps it")
    assert now_of(case).state == "waiting"
    assert item().state == "stuck", "a proposal writes nothing off"
    with pytest.raises(Denied, match="another person"):
        write_off.confirm(proposal.id, by=approver, why="yes", note="")
    with pytest.raises(Denied, match="approver"):
        write_off.confirm(proposal.id, by=repairer, why="yes", note="")
    other = person("another", "approver")
    write_off.confirm(proposal.id, by=other, why="agreed with the desk", note=off(case, effect.id, other))
    act = Act.objects.get(kind="write_off")
    assert (act.by.username, act.second, act.alone, act.outcome) == ("another", approver, False, "done")
    detail = Effect.objects.get(id=effect.id).detail
    assert detail == "the customer keeps it (proposed by approver; confirmed: agreed with the desk)"
    with pytest.raises(StaleFence):
        write_off.confirm(proposal.id, by=person("ida", "approver"), why="yes", note="")
    drain_once()
    assert now_of(case).state == "written_off"


def test_a_second_person_is_asked_twice_about_the_same(stuck: Make, repairer: User) -> None:
    case = stuck()
    proposed(case, repairer)
    with pytest.raises(StaleFence, match="asked already"):
        proposed(case, repairer, "it does")
    assert kept(case) == [("claim", "repairer", "done"), ("propose_write_off", "repairer", "proposed")]


def test_a_key_does_not_lead_to_a_proposal_nor_does_a_closed_case_say_what_is_true_no_more(
    stuck: Make, repairer: User, person: Make, browse: Make
) -> None:
    case, effect = stuck(), item()
    proposal, other = proposed(case, repairer, "it stays"), person("another", "approver")
    page = browse(other).get(f"/repairs/{case.number}/").content.decode()
    assert f'id="why-{proposal.id}" rows="2" data-key="a"' in page
    assert "Sends nothing by itself." in page
    write_off.confirm(proposal.id, by=other, why="agreed with the desk", note=off(case, effect.id, other))
    drain_once()
    page = browse(other).get(f"/repairs/{case.number}/").content.decode()
    assert '<h1><span class="quiet">It was:</span>' in page


def test_what_changed_since_it_was_proposed_can_not_be_confirmed(stuck: Make, repairer: User, approver: User) -> None:
    case, effect = stuck(), item()
    with pytest.raises(StaleFence, match="changed"):
        write_off.propose(
            case.id,
            effect_id=effect.id,
            by=repairer,
            why="x",
            fence=0,
            seq=effect.seq - 1,
            note=off(case, effect.id, repairer),
        )
    proposal, note = proposed(case, repairer), off(case, effect.id, approver)
    people.look_again(effect.id, by="person:other", why="maybe")
    with pytest.raises(StaleFence, match="changed"):
        write_off.confirm(proposal.id, by=approver, why="yes", note=note)
    assert not Effect.objects.filter(state="written_off").exists()


def test_a_declined_write_off_leaves_the_case_open(stuck: Make, repairer: User, approver: User) -> None:
    case = stuck()
    proposal = proposed(case, repairer)
    write_off.decline(proposal.id, by=approver, why="call them first")
    assert (now_of(case).state, item().state) == ("open", "stuck")
    with pytest.raises(StaleFence, match="answered"):
        write_off.confirm(proposal.id, by=approver, why="yes", note="")
    proposed(case, repairer, "again")


def test_one_person_alone_writes_off_only_where_that_is_allowed_and_the_journal_says_so(
    stuck: Make, repairer: User, settings: Any
) -> None:
    case, effect = stuck(), item()
    settings.FOUR_EYES = "required"
    with pytest.raises(Denied, match="two people"):
        write_off.alone(
            case.id,
            effect_id=effect.id,
            by=repairer,
            why="x",
            fence=0,
            seq=effect.seq,
            note=off(case, effect.id, repairer),
        )
    settings.FOUR_EYES = "when_possible"
    write_off.alone(
        case.id,
        effect_id=effect.id,
        by=repairer,
        why="nobody else is here",
        fence=0,
        seq=effect.seq,
        note=off(case, effect.id, repairer),
    )
    act = Act.objects.get(kind="write_off")
    assert (act.alone, act.second) == (True, None)
    payload = Entry.objects.get(subject_id=case.id, event="write_off")
    assert payload.actor == "person:repairer"
    assert Effect.objects.get(id=effect.id).detail == "nobody else is here (alone)"


def test_a_held_run_is_turned_back_by_a_person(
    world: World, tool: Make, workflow: Make, run_through: Make, repairer: User
) -> None:
    tool("crm.contact")
    tool("mail.send")
    world.script("mail.send", "execute", "refused")
    run = run_through(workflow("crm.contact", "mail.send", on_failure="hold"))
    case = Case.objects.get(run=run)
    assert case.sentence.endswith(
        "the work stopped half way at step send, and 1 of its effects stands;"
        " a step failed, and this workflow is told to stop there."
    )
    seen = shown(ActKind.TURN_BACK, case, None, repairer)
    turn_back.turn_back(case.id, by=repairer, why="the order was withdrawn", fence=case.fence, note=seen)
    drain_once()
    assert Run.objects.get(id=run.id).state == "repaired"
    assert (now_of(case).state, world.things) == ("resolved", {})


def test_a_held_run_is_written_off_by_two_people(
    world: World, tool: Make, workflow: Make, run_through: Make, repairer: User, approver: User
) -> None:
    tool("crm.contact")
    tool("mail.send")
    world.script("mail.send", "execute", "refused")
    run = run_through(workflow("crm.contact", "mail.send", on_failure="hold"))
    case = Case.objects.get(run=run)
    write_off.propose(
        case.id, effect_id=None, by=repairer, why="it may stay", fence=0, seq=run.seq, note=off(case, None, repairer)
    )
    proposal = Act.objects.get(kind="propose_write_off")
    write_off.confirm(proposal.id, by=approver, why="yes", note=off(case, None, approver))
    drain_once()
    assert Run.objects.get(id=run.id).state == "written_off"
    assert now_of(case).state == "written_off"


def test_acts_on_what_does_not_exist_are_refused(repairer: User, approver: User) -> None:
    nothing = Act().id
    with pytest.raises(NotFound):
        claim.claim(nothing, by=repairer)
    with pytest.raises(NotFound):
        write_off.confirm(nothing, by=approver, why="x", note="")
    with pytest.raises(NotFound):
        write_off.decline(nothing, by=approver, why="x")


def test_looking_again_sends_nothing_whatever_it_shows(stuck: Make, repairer: User, world: World) -> None:
    case, effect = stuck(), item()
    before = list(world.sends)
    look_again.look_again(case.id, effect_id=effect.id, by=repairer, why="did they remove it?", fence=case.fence)
    drain_once()
    assert world.sends == before
    assert (item().id, item().reason) == (effect.id, "seen_absent"), "the provider refused: it never said yes"


def test_a_case_stays_open_while_it_is_looked_at_again(stuck: Make, repairer: User, world: World) -> None:
    case, effect = stuck(), item()
    world.script("crm.contact", "look_undone", "inconclusive", "inconclusive", "inconclusive", "inconclusive")
    look_again.look_again(case.id, effect_id=effect.id, by=repairer, why="did they remove it?", fence=case.fence)
    drain_once()
    case = now_of(case)
    assert (case.state, case.reopened) == ("open", 0)
    assert case.claimed_by == repairer


@pytest.mark.parametrize("why", ["\u200b", " \u2060\u200d\ufe0f ", "\u3164"])
def test_a_reason_of_which_nothing_can_be_seen_counts_as_one(stuck: Make, repairer: User, why: str) -> None:
    case, effect = stuck(), item()
    with pytest.raises(Invalid, match="Say why"):
        look_again.look_again(case.id, effect_id=effect.id, by=repairer, why=why, fence=case.fence)
    assert kept(case) == []

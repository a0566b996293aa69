"""What comes late changes no state: it is kept, and what it proves is looked at."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import pytest

from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows import rows
from workflows.drain import Drain, drain_once
from workflows.engine import dispatch, look, people, record
from workflows.engine.advance import advance
from workflows.engine.recover import recover
from workflows.models import Attempt, Effect, Look, Run
from workflows.outcomes import Acknowledged, NotSent, Outcome, Refused, Sighting, Unknown, Verdict
from workflows.proof import Flaw, verify

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
PATIENCE = 60  # seconds
YES = Acknowledged(result={"said": "yes"})  # names nothing: two names under one key would be two objects


@pytest.fixture
def lost(world: World, workflow: Make, begin: Make) -> Callable[..., tuple[Run, Effect]]:
    """Dispatches the first effect of a run and loses its lease, as if its worker had been away for an hour."""

    def lose(*tools: str, booked: bool) -> tuple[Run, Effect]:
        run = begin(workflow(*tools))
        advance()
        late = dispatch.dispatch(1)[0]
        if booked:
            world.things[late.key] = late.arguments
            world.made.append(late.key)
        Effect.objects.filter(id=late.id).update(lease_until=rows.now() - dt.timedelta(hours=1))
        assert recover() == {late.id}
        return run, late

    return lose


def answer(late: Effect, outcome: Outcome) -> tuple[str, str]:
    """Records it, and tells what became of the effect and of the attempt."""
    record.record([(late, outcome)])
    attempt = Attempt.objects.get(id=late.sending.id)
    assert (attempt.stale, attempt.ended_at is None) == (True, False)
    return Effect.objects.get(id=late.id).state, attempt.outcome


@pytest.mark.parametrize("outcome", [YES, Unknown(reason="cut"), Refused(reason="no"), NotSent(reason="no line")])
def test_a_late_answer_changes_no_state_and_is_kept(lost: Make, tool: Make, world: World, outcome: Outcome) -> None:
    tool("t.a")
    run, late = lost("t.a", booked=True)
    Effect.objects.update(due_at=None)  # nobody is about to look
    state, kept = answer(late, outcome)
    assert (state, kept) == ("unknown", record.word_of(outcome))
    positive = isinstance(outcome, Acknowledged | Unknown)
    assert (Effect.objects.get().due_at is not None) is positive, "positive evidence causes a look"
    if positive:
        drain_once()
        assert (states(again(run)), world.sends) == ({"a forward": "verified present"}, [])


def test_a_late_yes_is_looked_at_before_the_same_key_is_sent_again(lost: Make, tool: Make, world: World) -> None:
    """It was proved absent and is due again when the yes comes; reads lag behind the yes."""
    stored = tool("t.a")
    stored.spec["verify"]["settle"] = 0.2
    stored.save()
    run, late = lost("t.a", booked=False)
    with ThreadPoolExecutor(1) as pool:
        jobs, begun = look.begin(look.claim(1), pool)
        look.record([(effect, future.result(), begun) for effect, future in jobs])  # begun long after the lease
    assert Effect.objects.get().state == "ready"
    world.things[late.key] = late.arguments
    world.script("t.a", "look", "absent")
    assert answer(late, YES)[0] == "blocked"
    drain_once()
    assert (states(again(run)), world.sends) == ({"a forward": "verified present"}, [])
    assert Look.objects.filter(verdict="absent").count() == 2


@pytest.mark.parametrize("keyed", [True, False])
def test_what_a_late_yes_promised_and_no_look_shows_is_not_sent_again(
    lost: Make, tool: Make, world: World, keyed: bool
) -> None:
    tool("t.a", keyed=keyed)
    run, late = lost("t.a", booked=False)
    answer(late, YES)
    drain_once()
    assert (states(again(run)), world.sends) == ({"a forward": "stuck nothing"}, [])
    assert again(run).people_reasons[0]["code"] == "not_found"


def test_a_yes_that_comes_while_the_key_is_sent_again_outweighs_the_second_answer(
    lost: Make, tool: Make, world: World
) -> None:
    """The second send is refused as a double; taken alone that would say that nothing was done."""
    tool("t.a")
    world.script("t.a", "execute", "refused")
    world.script("t.a", "look", "absent")
    run, late = lost("t.a", booked=True)
    told = threading.Event()

    def stay(_call: Any) -> None:
        assert told.wait(PATIENCE)

    world.inside = stay
    drain = Drain(slots=2)
    try:
        until(drain, lambda: bool(world.sends))
        assert answer(late, YES)[0] == "dispatched"
        told.set()
        drain.until_idle()
    finally:
        told.set()
        drain.close()
    assert states(again(run)) == {"a forward": "verified present"}
    assert len(world.sends) == 1


def test_two_answers_for_one_effect_are_written_one_after_the_other(lost: Make, tool: Make, world: World) -> None:
    """One drain may have both in its hand: the call that it had given up, and the one that it made instead."""
    tool("t.a")
    world.script("t.a", "look", "absent")
    run, late = lost("t.a", booked=False)
    drain = Drain(slots=2)
    try:
        until(drain, lambda: bool(drain._sends))
        wait(drain._sends)
        drain._sends = {answered(YES): late, **drain._sends}
        drain.until_idle()
    finally:
        drain.close()
    assert states(again(run)) == {"a forward": "verified present"}
    assert [attempt.stale for attempt in Attempt.objects.order_by("id")] == [True, False]
    assert whole()


def test_two_looks_at_one_effect_are_written_one_after_the_other(lost: Make, tool: Make, world: World) -> None:
    """A late answer may have caused the second while the first was under way."""
    tool("t.a")
    run, late = lost("t.a", booked=True)
    drain = Drain(slots=2)
    try:
        began = rows.now()
        first = look.claim(1)
        answer(late, YES)
        second = look.claim(1)
        found = Sighting(verdict=Verdict.FOUND)
        drain._looks = {answered(found): (effect, began) for effect in [*first, *second]}
        drain.until_idle()
    finally:
        drain.close()
    assert states(again(run)) == {"a forward": "verified present"}
    assert Look.objects.count() == 2
    assert whole()


def answered(value: Any) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_result(value)
    return future


def until(drain: Drain, holds: Callable[[], bool]) -> None:
    for _ in range(1000):
        drain.turn()
        if holds():
            return
        drain.wait(0.01)
    raise AssertionError("it never came to that")


def whole() -> bool:
    flaws: list[Flaw] = []
    verify(flaws.append)
    return not flaws


@pytest.mark.parametrize("outcome", [YES, Unknown(reason="cut")])
def test_a_late_end_of_a_call_for_what_failed_is_undone_and_not_forgotten(
    lost: Make, tool: Make, world: World, outcome: Outcome
) -> None:
    tool("t.a")
    run, late = lost("t.a", booked=False)
    world.script("t.a", "execute", "refused")
    drain_once()
    assert (again(run).state, states(again(run))) == ("failed", {"a forward": "failed nothing"})
    world.things[late.key] = late.arguments
    assert answer(late, outcome)[0] == "stuck"
    advance()
    assert again(run).phase == "unwinding"
    drain_once()
    run = again(run)
    assert run.needs_person or world.things == {}
    assert "late_answer" in {r["code"] for r in run.people_reasons} or states(run)["a forward"] == "undone gone"


def test_a_late_yes_to_what_nobody_could_know_is_told_to_the_person(lost: Make, tool: Make, world: World) -> None:
    tool("t.a", keyed=False)
    run, late = lost("t.a", booked=False)
    drain_once()
    assert again(run).people_reasons[0]["code"] == "cannot_know"
    world.things[late.key] = late.arguments
    assert answer(late, YES)[0] == "stuck"
    advance()
    [reason] = again(run).people_reasons
    assert (reason["code"], "a late yes came" in reason["detail"]) == ("cannot_know", True)
    assert Effect.objects.get().result == YES.result
    people.look_again(late.id, by="person:tester", why="there was a yes")
    drain_once()
    assert (states(again(run)), world.sends) == ({"a forward": "verified present"}, [])


def test_what_is_told_of_after_its_undoing_was_settled_is_not_taken_for_undone(
    lost: Make, tool: Make, world: World
) -> None:
    tool("t.a")
    tool("t.b")
    world.script("t.b", "execute", "refused")
    run, late = lost("t.a", "t.b", booked=True)
    drain_once()
    assert (again(run).state, states(again(run))["a forward"]) == ("compensated", "undone gone")
    world.things[late.key] = late.arguments
    answer(late, YES)
    drain_once()
    run = again(run)
    assert (states(run)["a forward"], [r["code"] for r in run.people_reasons]) == ("stuck unknown", ["late_answer"])
    people.look_again(late.id, by="person:tester", why="is it there?")
    drain_once()
    run = again(run)
    assert (states(run)["a forward"], [r["code"] for r in run.people_reasons]) == ("stuck present", ["reversed"])


@pytest.mark.parametrize("written_off", [False, True])
def test_a_late_yes_to_what_was_proved_to_be_nothing_makes_it_unknown(
    lost: Make, tool: Make, world: World, written_off: bool
) -> None:
    tool("t.a", undo=False)
    world.script("t.a", "execute", "lies")
    run, late = lost("t.a", booked=False)
    drain_once()
    assert states(again(run)) == {"a forward": "stuck nothing"}
    if written_off:
        people.write_off(late.id, by="person:tester", why="it is not there")
        drain_once()
        assert (again(run).state, again(run).residue) == ("written_off", [])
    world.things[late.key] = late.arguments
    assert answer(late, YES)[0] == "stuck"
    drain_once()
    run = again(run)
    assert (states(run), run.state) == ({"a forward": "stuck unknown"}, "stuck")
    assert run.people_reasons[0]["code"] == ("late_answer" if written_off else "not_found")


def test_a_look_that_comes_late_and_found_something_is_not_forgotten(lost: Make, tool: Make, world: World) -> None:
    """It stood still while another look counted the effect as absent and the effect failed."""
    tool("t.a")
    world.script("t.a", "execute", "refused")
    run, _ = lost("t.a", booked=False)
    old = Effect.objects.select_related("tool", "run__workflow", "compensates").get()
    began = rows.now()
    drain_once()
    assert states(again(run)) == {"a forward": "failed nothing"}
    look.anew(look.record([(old, Sighting(verdict=Verdict.FOUND), began)]))
    advance()
    assert Effect.objects.get(kind="forward").state != "failed"
    assert again(run).phase == "unwinding"
    assert Look.objects.latest("id").stale

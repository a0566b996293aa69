"""A held run goes forward again by a person's word: what failed is begun anew, what was done is never repeated."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction

from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows import ledger, rows
from workflows.authority import stops
from workflows.drain import drain_once
from workflows.engine import findings, people
from workflows.engine.advance import advance
from workflows.engine.cancel import cancel_by_person
from workflows.engine.resume import resume, why_not
from workflows.errors import Invalid, NotFound
from workflows.models import Effect, Run
from workflows.replay.check import check

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
BY = {"by": "person:repairer", "why": "the desk unlocked it"}


@pytest.fixture
def held(world: World, tool: Make, workflow: Make, run_through: Make) -> Run:
    """The first of three steps is done, the second was refused for good, the third was never begun."""
    for name in ("crm.contact", "cal.book", "mail.send"):
        tool(name)
    world.script("cal.book", "execute", "refused")
    run: Run = run_through(workflow("crm.contact", "cal.book", "mail.send", on_failure="hold"))
    assert (run.state, run.phase) == ("stuck", "unwinding")
    return run


def of(run: Run, step: str) -> list[Effect]:
    return list(Effect.objects.filter(run=run, step__name=step, kind="forward").order_by("id"))


def test_a_run_that_goes_forward_again_repeats_what_was_done_or_asks_with_a_refused_key(
    held: Run, world: World
) -> None:
    before = list(world.sends)
    resume(held.id, **BY)
    drain_once(slots=8)
    run = again(held)
    assert (run.state, run.phase, run.needs_person, run.is_clean, run.residue) == ("repaired", "over", False, False, [])
    first, second = of(run, "book")
    assert ((first.state, first.generation), (second.state, second.generation)) == (("failed", 0), ("verified", 1))
    assert [(name, key) for name, _, key in world.sends[len(before) :]] == [
        ("cal.book", second.key), ("mail.send", of(run, "send")[0].key),
    ]  # fmt: skip
    assert first.key != second.key
    assert check(run.id)[1] == []


def test_what_fails_once_more_is_not_held_or_takes_an_old_key_the_third_time(held: Run, world: World) -> None:
    world.script("cal.book", "execute", "refused")
    resume(held.id, **BY)
    drain_once(slots=8)
    assert (again(held).state, again(held).end_cause) == ("stuck", "step")
    resume(held.id, **BY)
    drain_once(slots=8)
    assert again(held).state == "repaired"
    assert [e.generation for e in of(held, "book")] == [0, 1, 2]
    assert len({e.key for e in of(held, "book")}) == 3


def test_a_run_whose_time_is_over_turns_back_as_soon_as_it_goes_forward(held: Run) -> None:
    past = rows.now() - dt.timedelta(hours=1)
    Run.objects.filter(id=held.id).update(deadline=past, end_cause="deadline")
    resume(held.id, **BY)
    drain_once(slots=8)
    run = again(held)
    assert (run.state, run.deadline is not None and run.deadline > rows.now()) == ("repaired", True)


def test_a_run_that_goes_forward_or_is_over_or_has_begun_to_undo_is_begun_anew(
    held: Run, workflow: Make, run_through: Make, world: World
) -> None:
    people.compensate_run(held.id, **BY)
    with pytest.raises(Invalid, match="undoes what stands"):
        resume(held.id, **BY)
    drain_once(slots=8)
    with pytest.raises(Invalid, match="only a run that is held"):
        resume(held.id, **BY)
    assert world.things == {}
    with pytest.raises(NotFound):
        resume(Effect().id, **BY)


def test_what_people_left_as_it_is_is_begun_anew_beside_it(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("crm.lost", verify=False, keyed=False)
    world.script("crm.lost", "execute", "lost_after")
    run = run_through(workflow("crm.lost", on_failure="hold"))
    with pytest.raises(Invalid, match="only a run that is held"):
        resume(run.id, **BY)
    people.write_off(of(run, "lost")[0].id, **BY)
    drain_once(slots=8)
    assert again(run).phase == "unwinding"
    with pytest.raises(Invalid, match="there twice"):
        resume(run.id, **BY)


def test_an_act_that_is_there_after_all_is_forgotten_because_its_step_was_begun_anew(
    held: Run, world: World, clock: Any
) -> None:
    resume(held.id, **BY)
    drain_once(slots=8)
    first = turned_up(held, world)
    advance()
    run = again(held)
    assert (run.state, run.phase, [r["effect"] for r in run.people_reasons]) == ("stuck", "unwinding", [str(first.id)])
    assert of(run, "book")[1].state == "verified"
    findings.found(first.id, **BY, result=first.result)
    drain_once(slots=8)
    run = again(held)
    assert (run.state, [row["effect"] for row in run.residue]) == ("repaired", [str(first.id)]), "one too many stands"


@pytest.mark.parametrize("says", ["found", "absent"])
def test_a_step_is_done_once_more_although_it_turned_up_before_the_second_had_left(
    held: Run, world: World, says: str
) -> None:
    sends, frozen = len(world.sends), freeze("cal.book")
    resume(held.id, **BY)
    drain_once(slots=8)
    first = turned_up(held, world)
    advance()
    lift(frozen)
    drain_once(slots=8)
    run = again(held)
    assert (len(world.sends), run.state, run.phase) == (sends, "stuck", "running")
    assert [e.state for e in of(run, "book")] == ["stuck", "cancelled"]
    getattr(findings, says)(first.id, **BY)
    drain_once(slots=8)
    run = again(held)
    if says == "absent":
        assert (run.state, run.end_cause, len(world.sends)) == ("stuck", "step", sends)
        resume(held.id, **BY)
        drain_once(slots=8)
        run = again(held)
        assert [e.state for e in of(run, "book")] == ["cancelled", "cancelled", "verified"]
    assert (run.state, run.residue) == ("repaired", [])
    assert len([name for name, _, _ in world.sends[sends:] if name == "cal.book"]) == (says == "absent")
    assert check(run.id)[1] == []


def turned_up(run: Run, world: World) -> Effect:
    """What the step did first, although it had been refused: a message says so."""
    first = of(run, "book")[0]
    world.things[first.key] = {}
    with transaction.atomic():
        ledger.wake_runs([run.id])
        first.stick(reason="late_answer", detail="a message says so", world="present")
        ledger.save_effects([first], now=rows.now())
    return first


def test_a_person_cancels_a_run_and_something_of_it_leaves_or_stays(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    for name in ("crm.contact", "cal.book"):
        tool(name)
    for then, left in (("compensate", "compensated"), ("hold", "stuck")):
        run = begin(workflow("crm.contact", "cal.book"))
        frozen = freeze("cal.book")
        drain_once(slots=8)
        cancel_by_person(run.id, then=then, **BY)
        lift(frozen)
        drain_once(slots=8)
        assert (again(run).state, states(run)["book forward"]) == (left, "cancelled nothing")
        with pytest.raises(Invalid, match="only a run that goes forward"):
            cancel_by_person(run.id, then=then, **BY)
    assert [name for name, _, _ in world.sends] == ["crm.contact", "crm.contact", "crm.contact"]
    resume(run.id, **BY)
    drain_once(slots=8)
    assert (again(run).state, of(run, "book")[-1].state) == ("repaired", "verified")


@pytest.fixture
def undoing_waits(world: World, tool: Make, workflow: Make, begin: Make) -> tuple[Run, Callable[[], None]]:
    """A run that turns back: `book` can't be undone, the undoing of `contact` waits for a stop that can be lifted."""
    tool("crm.contact")
    tool("cal.book", undo=False)
    tool("mail.send")
    world.script("mail.send", "execute", "refused")
    run = begin(workflow("crm.contact", "cal.book", "mail.send", after={"book": []}))
    mail = freeze("mail.send")
    drain_once(slots=8)
    contact = freeze("crm.contact")
    lift(mail)
    drain_once(slots=8)
    assert states(again(run))["contact compensation"] == "blocked nothing"
    return again(run), lambda: lift(contact)


def freeze(name: str) -> Any:
    return stops.freeze("tool", name, by="person:operator", why="x").stop


def lift(stop: Any) -> None:
    stops.lift(stop.id, by="person:another", why="x")


def test_an_undoing_that_had_not_left_leaves_after_all_that_stands_was_left(
    undoing_waits: tuple[Run, Callable[[], None]], world: World
) -> None:
    run, lifted = undoing_waits
    people.write_off_run(run.id, **BY)
    drain_once(slots=8)
    lifted()
    drain_once(slots=8)
    assert (again(run).state, again(run).phase) == ("written_off", "over")
    assert states(again(run))["contact compensation"] == "cancelled nothing"
    assert "compensate" not in [operation for _, operation, _ in world.sends]


@pytest.mark.parametrize(
    ("run", "effect", "says"),
    [
        ({"end_cause": ""}, {}, "only a run that is held"),
        ({"ending": "compensate"}, {}, "undoes what stands"),
        ({"ending": "written_off"}, {}, "undoes what stands"),
        ({}, {"compensates_id": "x"}, "has begun to undo"),
        ({}, {"state": "stuck"}, "stuck or under way"),
        ({}, {"state": "unknown"}, "stuck or under way"),
        ({}, {"state": "written_off"}, "people left as it is"),
        ({}, {"state": "undone"}, "people left as it is"),
        ({}, {"state": "stuck", "kind": "remedy"}, ""),
        ({}, {"compensates_id": "x", "state": "cancelled"}, ""),
    ],
)
def test_a_run_that_could_do_something_twice_is_said_to_go_forward(
    held: Run, run: dict[str, Any], effect: dict[str, Any], says: str
) -> None:
    effects = list(Effect.objects.filter(run=held).order_by("id"))
    held.__dict__.update(run)
    effects[0].__dict__.update(effect)
    no = why_not(held, effects)
    assert says in no
    assert bool(no) == bool(says)


def test_what_is_begun_anew_speaks_of_a_thing_that_is_no_more(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    """The contact vanished meanwhile, and a person made another by hand and said which."""
    for name in ("crm.contact", "cal.book", "mail.send"):
        tool(name)
    reads = {"of": "${ steps.contact.result.id }"}
    steps = [
        {"name": "contact", "tool": "crm.contact", "after": [], "arguments": {"of": "contact"}},
        {"name": "book", "tool": "cal.book", "after": ["contact"], "arguments": reads},
        {"name": "send", "tool": "mail.send", "after": ["book"], "arguments": reads},
    ]
    world.script("cal.book", "execute", "refused")
    run = run_through(workflow("crm.contact", "cal.book", "mail.send", on_failure="hold", steps=steps))
    contact = of(run, "contact")[0]
    assert of(run, "book")[0].arguments == {"of": f"id-{contact.key}"}
    with transaction.atomic():
        ledger.wake_runs([run.id])
        contact.stick(reason="gone", detail="a look showed it", world="nothing")
        ledger.save_effects([contact], now=rows.now())
    findings.found(contact.id, **BY, result={"id": "id-new"})
    with pytest.raises(Invalid, match="moved on yet"):  # a preview made now would still tell of the other one
        resume(run.id, **BY)
    drain_once(slots=8)
    resume(run.id, **BY)
    drain_once(slots=8)
    assert again(run).state == "repaired"
    assert [of(run, name)[-1].arguments["of"] for name in ("book", "send")] == ["id-new", "id-new"]
    assert check(run.id)[1] == []


@pytest.mark.parametrize("how", ["forward", "held"])
def test_what_a_person_says_is_not_there_is_built_upon(
    world: World, tool: Make, workflow: Make, begin: Make, how: str
) -> None:
    """It vanished after its step was done. What they were shown is that the step has failed then."""
    for name in ("crm.contact", "cal.book"):
        tool(name)
    if how == "held":
        world.script("cal.book", "execute", "refused")
    frozen = freeze("cal.book") if how == "forward" else None
    run = begin(workflow("crm.contact", "cal.book", on_failure="hold"))
    drain_once(slots=8)
    contact, sends = of(run, "contact")[0], len(world.sends)
    with transaction.atomic():
        ledger.wake_runs([run.id])
        contact.stick(reason="gone", detail="a look showed it", world="nothing")
        ledger.save_effects([contact], now=rows.now())
    findings.absent(contact.id, **BY)
    drain_once(slots=8)
    if frozen:
        lift(frozen)
        drain_once(slots=8)
    run = again(run)
    assert (run.state, run.phase, len(world.sends)) == ("stuck", "unwinding", sends)
    assert run.steps.get(name="contact").state == "failed"
    resume(run.id, **BY)
    drain_once(slots=8)
    assert (again(run).state, [e.state for e in of(run, "contact")]) == ("repaired", ["cancelled", "verified"])
    assert [name for name, _, _ in world.sends[sends:]] == ["crm.contact", "cal.book"]
    assert check(run.id)[1] == []

"""What waits speaks of things by the names they have by now: one that was renamed before it left is begun anew."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from tests.clock import Clock
from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows import ledger, rows
from workflows.authority import approvals, stops
from workflows.drain import drain_once
from workflows.engine import call, findings, record, restored
from workflows.engine.advance import advance
from workflows.engine.cancel import cancel_by_person
from workflows.engine.dispatch import dispatch
from workflows.engine.overdue import overdue
from workflows.models import Approval, Effect, Run, Stop, Wake
from workflows.policies import ages
from workflows.replay.check import check

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
BY: dict[str, Any] = {"by": "person:repairer", "why": "they made another by hand"}


@pytest.fixture
def run(tool: Make, workflow: Make, begin: Make, world: World) -> Callable[..., Run]:
    """A contact, and a booking that speaks of it: begun, and not sent, since its tool is frozen."""

    def make(*, of: str = "${ steps.contact.result.id }", **options: Any) -> Run:
        tool("crm.contact")
        tool("cal.book", **options)
        steps = [
            {"name": "contact", "tool": "crm.contact", "after": [], "arguments": {"of": "contact"}},
            {"name": "book", "tool": "cal.book", "after": ["contact"], "arguments": {"of": of}},
        ]
        flow = workflow("crm.contact", "cal.book", on_failure="hold", steps=steps, deadline=7200.0)
        stops.freeze("tool", "cal.book", by="person:operator", why="x")
        made: Run = begin(flow)
        drain_once(slots=8)
        return again(made)

    return make


def of(run: Run, step: str) -> list[Effect]:
    return list(Effect.objects.filter(run=run, step__name=step, kind="forward").order_by("generation"))


def renamed(run: Run, name: str = "id-new") -> None:
    """It vanished, and a person says what is there in its place."""
    contact = of(run, "contact")[0]
    with transaction.atomic():
        ledger.wake_runs([run.id])
        contact.stick(reason="gone", detail="a look showed it", world="gone")
        ledger.save_effects([contact], now=rows.now())
    findings.found(contact.id, **BY, result={"id": name})


def thaw() -> None:
    for stop in Stop.objects.filter(state="frozen"):
        stops.lift(stop.id, by="person:another", why="x")


def sent_of(run: Run, world: World) -> list[str]:
    """What the calls of `book` spoke of, by their keys."""
    named = {effect.key: effect.arguments["of"] for effect in of(run, "book")}
    return [named[key] for tool, operation, key in world.sends if (tool, operation) == ("cal.book", "execute")]


def test_what_waits_leaves_with_the_name_of_what_has_vanished(run: Make, world: World) -> None:
    going = run()
    assert of(going, "book")[0].arguments == {"of": f"id-{of(going, 'contact')[0].key}"}
    renamed(going)
    thaw()
    drain_once(slots=8)
    old, new = of(going, "book")
    assert ((old.state, old.reason), (new.state, new.arguments)) == (
        ("cancelled", "renamed"),
        ("verified", {"of": "id-new"}),
    )
    assert (old.key != new.key, old.digest != new.digest, sent_of(going, world)) == (True, True, ["id-new"])
    assert (again(going).state, again(going).steps.get(name="book").arguments) == ("repaired", {"of": "id-new"})
    assert check(going.id)[1] == []


def test_what_speaks_of_no_name_or_keeps_its_own_is_begun_anew(run: Make, world: World) -> None:
    going = run(of="${ input.size() } of ${ subject.id }")
    renamed(going)
    thaw()
    drain_once(slots=8)
    assert [(e.state, e.generation) for e in of(going, "book")] == [("verified", 0)]


@pytest.mark.parametrize("large", ["1.7e30", "0.1"])
def test_a_number_that_the_ledger_writes_otherwise_is_taken_for_another_name(
    run: Make, world: World, large: str
) -> None:
    made = run(of=f"${{ steps.contact.result.id == 'x' ? 1 : 2.0 * {large} }}")
    advance(only=made.id)
    for _ in range(3):
        with transaction.atomic():
            ledger.wake_runs([made.id])
        advance()
    assert len(of(made, "book")) == 1, [(e.state, e.reason, e.arguments, e.generation) for e in of(made, "book")]


def test_the_same_name_said_again_begins_anything_anew(run: Make, world: World) -> None:
    going = run()
    renamed(going, f"id-{of(going, 'contact')[0].key}")
    thaw()
    drain_once(slots=8)
    assert [(e.state, e.generation) for e in of(going, "book")] == [("verified", 0)]


@pytest.mark.parametrize("options", [{"effect_class": "irreversible", "undo": False}, {"scopes": ["thing"]}])
def test_what_waits_at_its_gate_or_for_its_turn_leaves_with_the_old_name(
    run: Make, world: World, options: dict[str, Any]
) -> None:
    going = run(**options)
    thaw()
    Effect.objects.filter(step__name="book").update(state="blocked", reason="order" if "scopes" in options else "gate")
    renamed(going)
    drain_once(slots=8)
    assert sent_of(going, world) == ["id-new"]


def test_a_yes_to_the_old_name_lets_the_new_one_go(
    tool: Make, workflow: Make, run: Make, world: World, django_user_model: type[User]
) -> None:
    going = run(autonomy="ask")
    thaw()
    drain_once(slots=8)
    approver = django_user_model.objects.create_user("approver", is_staff=True, is_superuser=True)
    first = Approval.objects.get()
    approvals.vote(first.id, by=approver, why="read it", seen_digest=first.digest)
    Effect.objects.filter(id=first.effect_id).update(due_at=None)  # nobody has come by yet
    renamed(going)
    drain_once(slots=8)
    assert (sent_of(going, world), of(going, "book")[-1].reason) == ([], "approval")
    second = Approval.objects.get(state="asked")
    assert second.effect_id == of(going, "book")[-1].id
    approvals.vote(second.id, by=approver, why="read it", seen_digest=second.digest)
    drain_once(slots=8)
    assert sent_of(going, world) == ["id-new"]


def ready(run: Run) -> Effect:
    """Nothing but a worker is missing."""
    thaw()
    Effect.objects.filter(run=run, step__name="book").update(state="ready", reason="", due_at=rows.now(), blocked_by=[])
    return of(run, "book")[0]


def test_a_worker_that_comes_before_the_run_was_read_sends_the_old_name(run: Make, world: World) -> None:
    going = run()
    ready(going)
    renamed(going)
    assert dispatch(8) == []
    advance()
    [new] = dispatch(8)
    assert (new.arguments, new.generation) == ({"of": "id-new"}, 1)


@pytest.mark.parametrize("read", [False, True])
def test_a_call_that_has_not_begun_when_a_person_says_the_new_name_begins(run: Make, world: World, read: bool) -> None:
    """Its intent is written already; what is there before it may be read for seconds."""
    going = run()
    Run.objects.filter(id=going.id).update(repaired=True)  # nothing of the run itself is written by the word
    ready(going)
    [held] = dispatch(8)
    renamed(going)
    if read:
        advance()
    with ThreadPoolExecutor(2) as pool:
        answered = [(effect, future.result()) for effect, future in call.begin([held], pool, held.sending.started_at)]
        record.record(answered)
    assert (of(going, "book")[0].state, of(going, "book")[0].attempts) == ("ready", 0)
    drain_once(slots=8)
    assert (sent_of(going, world), again(going).state) == (["id-new"], "repaired")


def test_a_call_that_has_not_begun_when_what_it_builds_upon_is_found_gone_begins(run: Make, world: World) -> None:
    going = run()
    ready(going)
    [held] = dispatch(8)
    contact = of(going, "contact")[0]
    with transaction.atomic():
        ledger.wake_runs([going.id])
        contact.stick(reason="gone", detail="a look showed it", world="gone")
        ledger.save_effects([contact], now=rows.now())
    with ThreadPoolExecutor(2) as pool:
        [(_, future)] = call.begin([held], pool, held.sending.started_at)
        record.record([(held, future.result())])
    drain_once(slots=8)
    assert (sent_of(going, world), of(going, "book")[0].blocked_by) == ([], [{"step": "contact"}])


def test_a_call_is_held_up_because_another_step_of_its_run_went_on(run: Make, world: World) -> None:
    going = run()
    ready(going)
    [held] = dispatch(8)
    with transaction.atomic():
        ledger.wake_runs([going.id])
    with ThreadPoolExecutor(2) as pool:
        [(_, future)] = call.begin([held], pool, held.sending.started_at)
        record.record([(held, future.result())])
    assert of(going, "book")[0].state == "acknowledged"


def test_what_was_refused_for_now_goes_out_again_with_the_old_name(run: Make, world: World) -> None:
    going = run()
    ready(going)
    world.script("cal.book", "execute", "temporary")
    [held] = dispatch(8)
    with ThreadPoolExecutor(2) as pool:
        calls = call.begin([held], pool, held.sending.started_at)
        renamed(going)
        record.record([(effect, future.result()) for effect, future in calls])
    drain_once(slots=8)
    assert (sent_of(going, world)[1:], states(going)["book forward"]) == (["id-new"], "verified present")


@pytest.mark.parametrize(("verify", "state"), [(True, "verified"), (False, "stuck")])
def test_what_may_have_been_sent_is_sent_again_with_the_old_name(
    run: Make, world: World, verify: bool, state: str
) -> None:
    """The answer was lost: whether the old one stands is asked, or a person is; it is not done again beside it."""
    going = run(verify=verify)
    ready(going)
    world.script("cal.book", "execute", "lost_after")
    [held] = dispatch(8)
    with ThreadPoolExecutor(2) as pool:
        calls = call.begin([held], pool, held.sending.started_at)
        renamed(going)
        record.record([(effect, future.result()) for effect, future in calls])
    drain_once(slots=8)
    [only] = of(going, "book")
    assert (len(sent_of(going, world)), only.state) == (1, state)
    assert only.reason in ("", "cannot_know")


def test_what_somebody_let_go_while_its_run_was_read_leaves_beside_its_successor(
    run: Make, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`release` locks no runs: the old one is moved between being read and being called off."""
    going = run()
    thaw()
    old = of(going, "book")[0]
    real = ledger.save_effects

    def save(effects: Any, **options: Any) -> Any:
        if any(effect.id == old.id for effect in effects):
            Effect.objects.filter(id=old.id).update(state="ready", seq=old.seq + 1, due_at=rows.now())
        return real(effects, **options)

    renamed(going)
    monkeypatch.setattr(ledger, "save_effects", save)
    advance()
    monkeypatch.undo()
    assert [e.state for e in of(going, "book")] == ["ready", "ready"]
    assert Wake.objects.filter(run=going).exists()
    assert dispatch(8) == [], "it may leave before its run is read again"
    drain_once(slots=8)
    assert (sent_of(going, world), [e.state for e in of(going, "book")]) == (["id-new"], ["cancelled", "verified"])


def test_what_can_not_be_made_any_more_leaves_as_it_was(run: Make, world: World) -> None:
    going = run()
    Run.objects.filter(id=going.id).update(subject_label="x")
    contact = of(going, "contact")[0]
    with transaction.atomic():
        ledger.wake_runs([going.id])
        contact.result = {}
        contact.note()
        ledger.save_effects([contact], now=rows.now())
    thaw()
    drain_once(slots=8)
    assert (sent_of(going, world), again(going).steps.get(name="book").reason) == ([], "bad_arguments")


@pytest.fixture
def lost() -> Callable[[Run], Effect]:
    """What was done turns out to be gone, and nobody knows yet what is there in its place."""

    def make(run: Run) -> Effect:
        contact = of(run, "contact")[0]
        with transaction.atomic():
            ledger.wake_runs([run.id])
            contact.stick(reason="gone", detail="a look showed it", world="gone")
            ledger.save_effects([contact], now=rows.now())
        drain_once(slots=8)
        return contact

    return make


@pytest.mark.parametrize("options", [{}, {"effect_class": "irreversible", "undo": False}, {"scopes": ["thing"]}])
@pytest.mark.parametrize("name", ["id-new", ""])
def test_what_builds_upon_something_that_is_gone_leaves_before_a_person_has_said_what_is_there(
    run: Make, lost: Make, world: World, name: str, options: dict[str, Any]
) -> None:
    going = run(**options)
    contact = lost(going)
    thaw()
    drain_once(slots=8)
    [waits] = of(going, "book")
    assert (sent_of(going, world), waits.state, again(going).needs_person) == ([], "blocked", True)
    findings.found(contact.id, **BY, result={"id": name or contact.result["id"]})
    drain_once(slots=8)
    assert sent_of(going, world) == [name or contact.result["id"]]
    assert (again(going).state, len(of(going, "book"))) == ("repaired", 2 if name else 1)
    assert check(going.id)[1] == []


def test_a_step_is_begun_that_builds_upon_something_that_is_gone(
    tool: Make, workflow: Make, begin: Make, lost: Make, world: World
) -> None:
    """Not the next one, but the one after it."""
    for name in ("crm.contact", "cal.book", "mail.send"):
        tool(name)
    stops.freeze("tool", "cal.book", by="person:operator", why="x")
    going = begin(workflow("crm.contact", "cal.book", "mail.send"))
    drain_once(slots=8)
    thaw()
    ready(going)
    [held] = dispatch(8)
    with ThreadPoolExecutor(2) as pool:
        calls = call.begin([held], pool, held.sending.started_at)
        contact = lost(going)
        record.record([(effect, future.result()) for effect, future in calls])
    drain_once(slots=8)
    assert (states(again(going))["book forward"], of(going, "send")) == ("verified present", [])
    findings.found(contact.id, **BY)
    drain_once(slots=8)
    assert (again(going).state, of(going, "send")[0].state) == ("repaired", "verified")


def test_who_waits_for_a_person_is_told_of_as_what_stands_still(
    run: Make, lost: Make, clock: Clock, world: World
) -> None:
    going = run()
    lost(going)
    thaw()
    drain_once(slots=8)
    clock.step(ages.BOUNDS["blocked dependency"] + 60)
    assert overdue() == set()
    with transaction.atomic():
        ledger.wake_runs([going.id])
    advance()
    assert [reason["code"] for reason in again(going).people_reasons] == ["gone"]


def test_a_gate_opens_before_what_stands_before_it_is_settled_again(
    tool: Make, workflow: Make, begin: Make, lost: Make, world: World
) -> None:
    tool("crm.contact")
    tool("mail.slow")
    tool("cal.book", effect_class="irreversible", undo=False)
    steps = [
        {"name": "contact", "tool": "crm.contact", "after": [], "arguments": {"of": "contact"}},
        {"name": "slow", "tool": "mail.slow", "after": [], "arguments": {"of": "slow"}},
        {"name": "book", "tool": "cal.book", "after": ["contact"], "arguments": {"of": "${ steps.contact.result.id }"}},
    ]
    stops.freeze("tool", "mail.slow", by="person:operator", why="x")
    going = begin(workflow("crm.contact", "mail.slow", "cal.book", steps=steps))
    drain_once(slots=8)
    assert of(going, "book")[0].reason == "gate"
    contact = lost(going)
    thaw()
    drain_once(slots=8)
    assert (states(again(going))["slow forward"], sent_of(going, world)) == ("verified present", [])
    findings.found(contact.id, **BY, result={"id": "id-new"})
    drain_once(slots=8)
    assert (sent_of(going, world), again(going).state) == (["id-new"], "repaired")


@pytest.mark.parametrize(("verify", "state"), [(True, "undone gone"), (False, "undone unknown")])
def test_a_run_that_turns_back_waits_for_ever_for_what_may_have_been_sent_and_waits_for_a_person(
    run: Make, lost: Make, world: World, verify: bool, state: str
) -> None:
    going = run(verify=verify)
    ready(going)
    world.script("cal.book", "execute", "lost_after")
    [held] = dispatch(8)
    with ThreadPoolExecutor(2) as pool:
        calls = call.begin([held], pool, held.sending.started_at)
        record.record([(effect, future.result()) for effect, future in calls])
    Effect.objects.filter(id=held.id).update(state="ready", reason="absent", due_at=rows.now())  # a miss too early
    lost(going)
    assert (of(going, "book")[0].blocked_by, of(going, "book")[0].doubt) == ([{"step": "contact"}], True)
    cancel_by_person(going.id, then="compensate", **BY)
    drain_once(slots=8)
    assert states(again(going))["book forward"] == state


def test_what_waits_behind_a_step_is_sent_after_a_restore_without_a_look(run: Make, lost: Make, world: World) -> None:
    """It may have gone on, and been sent, after the backup was made."""
    going = run()
    contact = lost(going)
    thaw()
    waits = of(going, "book")[0]
    world.things[waits.key] = {"of": waits.arguments["of"]}
    restored.look_first()
    findings.found(contact.id, **BY, result={"id": contact.result["id"]})
    drain_once(slots=8)
    assert (sent_of(going, world), of(going, "book")[0].reason) == ([], "adopted")

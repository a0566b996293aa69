"""A signed message about what is settled or at rest causes one look: what proves the contrary reopens its run, once."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction

from tests.clock import Clock
from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows import ledger, rows
from workflows.drain import drain_once
from workflows.engine import findings, hint, look, people
from workflows.engine.advance import advance
from workflows.engine.recover import recover
from workflows.models import Effect, Entry, Hook, Look, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
_events = itertools.count(1)


def tell(name: str | bool) -> Hook:
    hook, new = hint.hint("crm", f"evt-{next(_events)}", sent_at=rows.now(), body={"id": name})
    assert new
    return hook


def told(name: str | bool) -> Hook:
    """The same, and what follows from it."""
    hook = tell(name)
    drain_once()
    return hook


@pytest.fixture
def heard(tool: Make) -> Make:
    """A tool whose provider tells of its things, by our key or its own name."""

    def make(name: str, **options: Any) -> Any:
        made = tool(name, **options)
        made.spec["hooks"] = {"source": "crm", "names": ["body.id"]}
        made.save()
        return made

    return make


@pytest.fixture
def undone(world: World, heard: Make, tool: Make, workflow: Make, run_through: Make) -> Run:
    heard("t.a")
    tool("t.b")
    world.script("t.b", "execute", "refused")
    run: Run = run_through(workflow("t.a", "t.b"))
    assert run.state == "compensated"
    return run


@pytest.fixture
def done(world: World, heard: Make, workflow: Make, run_through: Make) -> Run:
    heard("t.a")
    run: Run = run_through(workflow("t.a"))
    assert (run.state, run.is_clean) == ("completed", True)
    return run


def effect(run: Run, kind: str = "forward") -> Effect:
    return Effect.objects.get(run=run, kind=kind, step__name="a")


def looks(run: Run) -> int:
    return Look.objects.filter(effect__run=run).count()


@pytest.mark.parametrize("name", ["key", "external_ref"])
def test_an_undoing_that_was_reversed_is_seen_when_its_provider_tells_and_reopens_once(
    world: World, undone: Run, name: str
) -> None:
    forward = effect(undone)
    world.things[forward.key] = {}
    assert told(getattr(forward, name)).looks == 1
    run = again(undone)
    assert (run.phase, run.state, [r["code"] for r in run.people_reasons]) == ("unwinding", "stuck", ["reversed"])
    assert (states(run)["a forward"], states(run)["a compensation"]) == ("stuck present", "stuck nothing")
    before, sends = looks(run), len(world.sends)
    assert [told(forward.key).looks for _ in range(3)] == [0, 0, 0], "a person has it in hand"
    assert (looks(run), len(world.sends), again(run).seq) == (before, sends, run.seq)


def test_what_a_message_reopened_can_be_undone_once_more(world: World, undone: Run) -> None:
    forward = effect(undone)
    world.things[forward.key] = {}
    told(forward.key)
    people.undo_again(forward.id, by="person:night desk", why="the provider restored it")
    drain_once()
    assert world.things == {}
    assert (again(undone).state, again(undone).needs_person) == ("repaired", False)


@pytest.mark.parametrize("what", ["undone", "done"])
def test_a_message_about_what_is_still_so_causes_one_look_and_moves_nothing(
    request: pytest.FixtureRequest, what: str
) -> None:
    run: Run = request.getfixturevalue(what)
    before = looks(run)
    assert told(effect(run).key).looks == 1
    assert looks(run) == before + 1
    assert (again(run).phase, again(run).state) == ("over", run.state)
    assert not Effect.objects.filter(run=run).exclude(due_at=None).exists()


def test_a_storm_of_messages_is_one_look_a_minute(clock: Clock, done: Run) -> None:
    key = effect(done).key
    clock.step(100)
    before, entries = looks(done), Entry.objects.filter(subject_id=effect(done).id).count()
    for _ in range(30):
        told(key)
    assert looks(done) == before + 1
    written = Entry.objects.filter(subject_id=effect(done).id).count() - entries
    assert written <= 4, "each message wrote to the effect"
    clock.step(61)
    drain_once()
    assert looks(done) == before + 2, "what came after the look is looked at too"
    clock.step(600)
    drain_once()
    assert looks(done) == before + 2


def test_what_stood_and_is_gone_needs_a_person_after_as_many_misses_as_any_other(world: World, done: Run) -> None:
    world.things.clear()
    before = looks(done)
    told(effect(done).key)
    run = again(done)
    assert looks(run) == before + 3
    assert (states(run)["a forward"], run.people_reasons[0]["code"]) == ("stuck gone", "gone")
    assert len(run.people_reasons) == 1, "it is said that a step failed"
    assert run.is_clean is None
    told(effect(done).key)
    assert looks(run) == before + 3
    people.write_off(effect(run).id, by="person:night desk", why="the customer left")
    drain_once()
    assert (again(run).phase, again(run).state) == ("over", "written_off")


def test_what_somebody_changed_since_is_no_reversal(world: World, done: Run) -> None:
    world.script("t.a", "look", "differs")
    told(effect(done).key)
    assert (again(done).state, states(done)["a forward"]) == ("completed", "verified present")


def test_what_failed_and_is_there_after_all_is_undone_as_its_run_wants(
    clock: Clock, world: World, heard: Make, workflow: Make, run_through: Make
) -> None:
    heard("t.a")
    world.script("t.a", "execute", *["lost_before"] * 3)
    run = run_through(workflow("t.a"))
    forward = effect(run)
    assert (run.state, forward.state) == ("failed", "failed")
    told(forward.key)
    assert (again(run).state, states(run)["a forward"]) == ("failed", "failed nothing")
    world.things[forward.key] = {}
    clock.step(61)
    told(forward.key)
    assert (world.things, states(run)["a forward"]) == ({}, "undone gone")
    assert Entry.objects.filter(subject_id=forward.id, event="stick").count() == 1


@pytest.mark.parametrize("unclear", ["unreachable", "inconclusive"])
def test_a_look_that_stays_unclear_proves_nothing_of_what_is_at_rest(
    world: World, heard: Make, workflow: Make, run_through: Make, unclear: str
) -> None:
    """An outage of its provider made cases of all that it had told of."""
    heard("t.a")
    world.script("t.a", "execute", *["lost_before"] * 3)
    run = run_through(workflow("t.a"))
    tell(effect(run).key)
    Effect.objects.filter(run=run).update(backoffs=12)
    world.script("t.a", "look", unclear)
    drain_once()
    assert (again(run).state, states(run)["a forward"], effect(run).due_at) == ("failed", "failed nothing", None)


def test_a_message_about_what_never_left_us_looks_at_nothing(
    world: World, heard: Make, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.b")
    heard("t.a", effect_class="irreversible")
    world.script("t.b", "execute", "refused")
    run = run_through(workflow("t.b", "t.a", after={"a": []}))
    assert effect(run).state == "cancelled"
    assert told(effect(run).key).looks == 0
    assert looks(run) == 0


@pytest.mark.parametrize(
    ("known", "why"),
    [
        ({"reason": "met"}, "it stood there before us"),
        ({"granted": "read write compensate"}, "nobody was granted to look at it"),
        ({"external_ref": "True"}, "it has the name of what is no name"),
    ],
)
def test_a_message_about_what_is_not_ours_to_look_at_looks_at_it(done: Run, known: dict[str, str], why: str) -> None:
    Effect.objects.filter(run=done).update(**known)
    name = True if "external_ref" in known else effect(done).key
    assert told(name).looks == 0, why


def test_a_message_about_what_nobody_can_look_at_looks_at_it(
    world: World, heard: Make, workflow: Make, run_through: Make
) -> None:
    heard("t.a", verify=False)
    world.script("t.a", "execute", "refused")
    run = run_through(workflow("t.a"))
    assert effect(run).state == "failed"
    assert told(effect(run).key).looks == 0


def test_a_message_names_more_effects_than_any_honest_one_speaks_of(
    world: World, heard: Make, workflow: Make, run_through: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hint, "MOST", 1)
    heard("t.a")
    flow = workflow("t.a")
    for _ in range(2):
        run_through(flow)
    Effect.objects.update(external_ref="theirs")
    assert len(told("theirs").effects) == 1


def test_a_message_looks_at_what_stands_while_its_undoing_is_with_a_person_or_not_taken_in_yet(
    world: World, heard: Make, tool: Make, workflow: Make, run_through: Make
) -> None:
    """Its undoing looks by itself, or a person has it in hand; beside that a look tells our own doing as somebody's."""
    heard("t.a")
    tool("t.b")
    world.script("t.b", "execute", "refused")
    world.script("t.a", "compensate", "refused", "well")
    run = run_through(workflow("t.a", "t.b"))
    assert (effect(run).state, effect(run, "compensation").state) == ("verified", "stuck")
    assert told(effect(run).key).looks == 0
    with connection.cursor() as cursor:  # as it is between the look at the undoing and the run's next advance
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(SEEN, [run.id])
        cursor.execute("SET session_replication_role = DEFAULT")
    assert tell(effect(run).key).looks == 0


SEEN = """
UPDATE workflows_effect SET state = 'verified', world = 'present', verifiable = true, verified_at = now()
WHERE run_id = %s AND kind = 'compensation'
"""


def test_a_look_that_began_before_an_undoing_did_tells_what_that_leaves(world: World, done: Run) -> None:
    forward = effect(done)
    tell(forward.key)
    claimed = look.claim(10)
    _turned_back(done)
    advance()
    assert (effect(done).state, effect(done, "compensation").state) == ("verified", "ready")
    world.things.clear()
    with ThreadPoolExecutor(1) as pool:
        asked, begun = look.begin(claimed, pool)
        look.anew(look.record([(e, future.result(), begun) for e, future in asked]))
    assert (effect(done).misses, effect(done).due_at) == (0, None)


def test_a_look_that_began_before_its_run_turned_back_says_nothing_of_what_was_undone(world: World, done: Run) -> None:
    """The undoing's own looks tell; "it is gone" would be our own doing, told as somebody's."""
    forward = effect(done)
    tell(forward.key)
    claimed = look.claim(10)
    assert [e.id for e in claimed] == [forward.id]
    _undo(done)
    assert states(done)["a compensation"] == "verified present"
    with ThreadPoolExecutor(1) as pool:
        asked, begun = look.begin(claimed, pool)
        look.anew(look.record([(e, future.result(), begun) for e, future in asked]))
    drain_once()
    run = again(done)
    assert (run.needs_person, states(run)["a forward"], effect(run).due_at) == (False, "undone gone", None)


def _undo(run: Run) -> None:
    _turned_back(run)
    drain_once()
    advance()


def _turned_back(run: Run) -> None:
    with transaction.atomic():
        locked = Run.objects.select_for_update().get(id=run.id)
        locked.reopen()
        locked.ending, locked.end_cause, locked.advance_at = "compensate", "person", rows.now()
        ledger.save_runs([locked], now=rows.now())


def test_a_message_that_comes_while_somebody_looks_causes_another_look(clock: Clock, world: World, done: Run) -> None:
    forward = effect(done)
    clock.step(100)
    tell(forward.key)
    claimed = look.claim(10)
    with ThreadPoolExecutor(1) as pool:
        asked, begun = look.begin(claimed, pool)
        answers = [(e, future.result(), begun) for e, future in asked]
    world.things.clear()
    tell(forward.key)
    look.anew(look.record(answers))
    drain_once()
    assert states(done)["a forward"] == "stuck gone"


def test_messages_during_one_slow_look_begin_no_other_beside_it_nor_pass_for_dead_workers(
    clock: Clock, world: World, done: Run
) -> None:
    """Each began one more; from the third on they counted as looks that ended their workers, and a person got it."""
    forward = effect(done)
    clock.step(100)
    tell(forward.key)
    claimed = look.claim(10)
    entries = Entry.objects.filter(subject_id=forward.id).count()
    for _ in range(4):
        tell(forward.key)
        assert look.claim(10) == []
    assert Entry.objects.filter(subject_id=forward.id).count() == entries + 1, "once is enough"
    assert recover() == set()
    with ThreadPoolExecutor(1) as pool:
        asked, begun = look.begin(claimed, pool)
        look.anew(look.record([(e, future.result(), begun) for e, future in asked]))
    assert Effect.objects.filter(id=forward.id, due_at__lte=rows.now()).exists(), "what they told of is looked at"
    drain_once()
    assert (again(done).state, states(done)["a forward"]) == ("completed", "verified present")


def test_what_a_person_finds_there_after_all_ends_its_run_with_nothing_left_over(world: World, done: Run) -> None:
    world.things.clear()
    told(effect(done).key)
    findings.found(effect(done).id, by="person:night desk", why="their list shows it")
    drain_once()
    run = again(done)
    assert (run.phase, run.state, run.residue) == ("over", "repaired", [])


def test_a_look_at_what_is_settled_that_ends_its_workers_goes_to_a_person(world: World, done: Run) -> None:
    """It was passed over in silence: nobody took it up, and nobody was told."""
    Effect.objects.filter(run=done).update(unseen=3, due_at=rows.now())
    assert recover() == {effect(done).id}
    assert effect(done).reason == "poison"

"""Stops against dispatch and calls: barriers at each place where a freeze could come between, and random schedules."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from tests.authority.test_stops import OTHER, freeze, held, until_verified
from tests.engine.conftest import again
from tests.engine.simulated import World
from workflows import bells
from workflows.authority import stops
from workflows.drain import Drain, drain_once
from workflows.engine import call, dispatch, look, record, release
from workflows.engine.advance import advance
from workflows.engine.cancel import cancel
from workflows.engine.parts.start import Start
from workflows.models import Agent, Effect, Run, Stop

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
on_and_off = pytest.mark.parametrize("guard", ["on", "off"])
PATIENCE = 20.0  # seconds: how long a test waits for what must come


@pytest.fixture
def beside() -> Iterator[Callable[[Callable[[], Any]], Future[Any]]]:
    """Runs something in a thread that ends its own connection."""
    pool = ThreadPoolExecutor(2)

    def run(what: Callable[[], Any]) -> Future[Any]:
        def guarded() -> Any:
            try:
                return what()
            finally:
                connection.close()

        return pool.submit(guarded)

    yield run
    pool.shutdown()


def until_it_waits_or(done: Callable[[], bool]) -> None:
    """Until somebody waits for the stops' lock, or `done`."""
    sql = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = %s AND NOT granted"
    with bells.connect() as other:
        for _ in range(int(PATIENCE / 0.005)):
            row = other.execute(sql, [stops.LOCK]).fetchone()
            if done() or (row and row[0]):
                return
            threading.Event().wait(0.005)
    raise AssertionError("nobody waited for the lock")


@on_and_off
def test_what_was_dispatched_before_a_freeze_and_not_called_is_not_called(
    guard: str,
    world: World,
    tool: Make,
    workflow: Make,
    begin: Make,
    beside: Make,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A drain stops between dispatch and call. Off: stops are not read again right before the calls."""
    tool("t.a")
    run = begin(workflow("t.a"))
    barrier, real = threading.Barrier(2, timeout=PATIENCE), Drain._call

    def stay(self: Drain, effects: list[Effect]) -> None:
        if effects:
            barrier.wait()
            barrier.wait()
        real(self, effects)

    monkeypatch.setattr(Drain, "_call", stay)
    if guard == "off":
        monkeypatch.setattr(call, "frozen", lambda effects: {})
    draining = beside(drain_once)
    barrier.wait()
    assert Effect.objects.get().state == "dispatched"
    stop = freeze()
    barrier.wait()
    draining.result(PATIENCE)
    if guard == "on":
        assert (world.sends, held(run)) == ([], [("blocked", "hold", [str(stop.id)])])
        assert (Effect.objects.get().attempts, Effect.objects.get().world) == (0, "nothing")
    else:
        assert len(world.sends) == 1


@on_and_off
def test_a_freeze_returns_only_when_what_was_allowed_before_it_has_begun(
    guard: str,
    world: World,
    tool: Make,
    workflow: Make,
    begin: Make,
    beside: Make,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A freeze comes after stops were read again and before the call begins. Off: the lock is not shared."""
    tool("t.a")
    begin(workflow("t.a"))
    advance()
    effects = dispatch.dispatch(1)
    order: list[str] = []
    asked, go, real_send, real_begin = threading.Event(), threading.Event(), call._send, Start.begin

    def late(*facts: Any) -> Any:
        asked.set()
        assert go.wait(PATIENCE)
        return real_send(*facts)

    def begun(self: Start) -> bool:
        order.append("begun")
        return real_begin(self)

    def frozen() -> None:
        freeze()
        order.append("frozen")

    def come_between() -> None:
        assert asked.wait(PATIENCE)
        freezing = beside(frozen)
        until_it_waits_or(freezing.done)
        go.set()
        freezing.result(PATIENCE)

    monkeypatch.setattr(call, "_send", late)
    monkeypatch.setattr(Start, "begin", begun)
    monkeypatch.setattr(call, "BEGIN_WITHIN", PATIENCE)
    if guard == "off":
        monkeypatch.setattr(stops, "share", lambda: None)
    between = beside(come_between)
    with ThreadPoolExecutor(1) as pool:
        [(_, future)] = call.begin(effects, pool, effects[0].sending.started_at)
        future.result()
    between.result(PATIENCE)
    assert order == (["begun", "frozen"] if guard == "on" else ["frozen", "begun"])


def test_a_call_that_no_thread_took_in_its_time_does_not_begin_any_more(
    world: World, tool: Make, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool("t.a")
    begin(workflow("t.a"))
    advance()
    effects = dispatch.dispatch(1)
    monkeypatch.setattr(call, "BEGIN_WITHIN", 0.01)
    go = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(go.wait, PATIENCE)
        [(effect, future)] = call.begin(effects, pool, effects[0].sending.started_at)
        freeze()
        go.set()
        record.record([(effect, future.result())])
    assert (world.sends, Effect.objects.get().reason) == ([], "not_sent")


@on_and_off
def test_who_is_being_held_while_the_stop_is_lifted_is_let_go(
    guard: str,
    world: World,
    tool: Make,
    workflow: Make,
    begin: Make,
    beside: Make,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A dispatch has read the stop and not yet written whom it blocks. Off: the lock is not shared, nobody wakes it."""
    tool("t.a")
    run = begin(workflow("t.a"))
    advance()
    stop = freeze()
    lifting: list[Future[Any]] = []
    real = dispatch._take_scopes

    def come_between(*facts: Any) -> Any:
        lifting.append(beside(lambda: stops.lift(stop.id, by=OTHER, why="well again")))
        until_it_waits_or(lifting[0].done)
        return real(*facts)

    with monkeypatch.context() as patched:
        patched.setattr(dispatch, "_take_scopes", come_between)
        if guard == "off":
            patched.setattr(stops, "share", lambda: None)
        assert dispatch.dispatch(1) == []
    lifting[0].result(PATIENCE)
    drain_once()
    assert again(run).state == ("completed" if guard == "on" else "running")
    stops.end_over()
    drain_once()
    assert again(run).state == "completed", "the sweep finds whoever was overlooked"


@on_and_off
def test_what_a_frozen_agent_did_is_undone_all_the_same(
    guard: str,
    world: World,
    tool: Make,
    workflow: Make,
    begin: Make,
    agent: Agent,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Off: an agent's freeze holds what undoes its acts too."""
    tool("t.a")
    tool("t.b")
    run = begin(workflow("t.a", "t.b"))
    until_verified(run)
    freeze("agent", agent.name)
    cancel(agent, run.id, reason="the customer left")
    if guard == "off":
        real = stops._targets
        monkeypatch.setattr(stops, "_targets", lambda effect: {**real(effect), "agent": effect.agent.name})
    drain_once()
    assert again(run).state == ("compensated" if guard == "on" else "unwinding")
    assert bool(world.things) == (guard == "off")


def test_a_worker_that_sleeps_does_not_keep_a_freeze_from_being_in_force(
    world: World, tool: Make, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said that not all have heard of it; what is dispatched from then on is held."""
    tool("t.a")
    run = begin(workflow("t.a"))
    monkeypatch.setattr(stops, "PATIENCE", stops.PATIENCE / 1000)
    with bells.connect() as asleep, asleep.transaction():
        asleep.execute("SELECT pg_advisory_xact_lock_shared(%s)", [stops.LOCK])
        frozen = stops.freeze("everything", by="person:desk", why="odd answers")
        assert not frozen.quiet
        drain_once()
        assert (world.sends, held(run)) == ([], [("blocked", "hold", [str(frozen.stop.id)])])


class AtOnce(Executor):
    """Begins and ends each call where it is submitted, so that a schedule is one order of events."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **options))
        return future


SEEDS, ROUNDS, RUNS, STEPS = 10, 2, 50, 6  # 1,000 runs, each with a schedule of its own


class Schedule:
    """Random holds, lifts, cancels and verbs over a set of runs; each send is held against what was decided by then."""

    def __init__(self, seed: int, world: World, agent: Agent, runs: Sequence[Run]) -> None:
        self.chance = random.Random(seed)
        self.world, self.agent = world, agent
        self.runs = {run.subject_id: run for run in runs}
        self.stops: dict[tuple[str, str], Stop] = {}
        self.cancelled: set[str] = set()
        self.groups: list[list[Effect]] = []
        self.answers: list[tuple[Effect, Any]] = []
        self.wrong: list[Any] = []
        self.holds = 0
        world.inside = self.judge

    def judge(self, sent: Any) -> None:
        tool, operation, _ = self.world.sends[-1]
        subject = sent.subject["id"]
        on = {("tool", tool), ("subject", f"customer:{subject}"), ("everything", "")}
        if operation == "execute":
            on.add(("agent", self.agent.name))
        if stopped := on & self.stops.keys():
            self.wrong.append((subject, operation, stopped))
        if operation == "execute" and subject in self.cancelled:
            self.wrong.append((subject, operation, "cancelled"))

    def decide(self) -> None:
        """A few decisions about single runs, and now and then one about all."""
        for subject in self.chance.sample(sorted(self.runs), 8):
            target = ("subject", f"customer:{subject}")
            if target in self.stops:
                self.lift(target)
            elif self.chance.random() < 0.6:
                self.hold(target)
            else:
                self.cancel(subject)
        target = self.chance.choice([("tool", "t.a"), ("tool", "t.b"), ("agent", self.agent.name), ("everything", "")])
        if target in self.stops:
            self.lift(target)
        elif self.chance.random() < 0.3:
            self.hold(target)

    def hold(self, target: tuple[str, str]) -> None:
        self.stops[target] = freeze(*target)
        self.holds += 1

    def lift(self, target: tuple[str, str]) -> None:
        stops.lift(self.stops.pop(target).id, by=OTHER, why="well again")

    def cancel(self, subject: str) -> None:
        run = Run.objects.get(id=self.runs[subject].id)
        if run.phase != "over":
            cancel(self.agent, run.id, reason="changed mind")
            self.cancelled.add(subject)

    def verbs(self) -> None:
        """Each verb at a random moment: what one dispatched may be called much later."""
        verbs: list[Callable[[], Any]] = [
            advance,
            self.dispatch,
            self.dispatch,
            self.call,
            self.call,
            self.record,
            self.look,
            self.let_go,
        ]
        for verb in self.chance.sample(verbs, len(verbs)):
            verb()

    def let_go(self) -> None:
        release.release(RUNS)

    def dispatch(self) -> None:
        if effects := dispatch.dispatch(self.chance.randint(1, RUNS)):
            self.groups.append(effects)

    def call(self) -> None:
        if self.groups:
            group = self.groups.pop(self.chance.randrange(len(self.groups)))
            jobs = call.begin(group, AtOnce(), group[0].sending.started_at)
            self.answers += [(effect, future.result()) for effect, future in jobs]

    def record(self) -> None:
        record.record(self.answers)
        self.answers = []

    def look(self) -> None:
        jobs, begun = look.begin(look.claim(RUNS), AtOnce())
        look.anew([(effect, future.result(), begun) for effect, future in jobs])

    def finish(self) -> None:
        for target in list(self.stops):
            self.lift(target)
        while self.groups:
            self.call()
        self.record()
        drain_once()


@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_schedule_of_hold_cancel_and_dispatch_sends_between_hold_and_decision(
    seed: int, world: World, tool: Make, workflow: Make, begin: Make, agent: Agent
) -> None:
    tool("t.a")
    tool("t.b")
    flow = workflow("t.a", "t.b")
    for number in range(ROUNDS):
        schedule = Schedule(seed * ROUNDS + number, world, agent, [begin(flow) for _ in range(RUNS)])
        for _ in range(STEPS):
            schedule.decide()
            schedule.verbs()
        schedule.finish()
        assert schedule.wrong == []
        assert schedule.holds > RUNS // 5
        assert schedule.cancelled
    ended = {run.subject_id: run.state for run in Run.objects.all()}
    assert set(ended.values()) <= {"completed", "compensated", "cancelled"}
    assert len(world.things) == 2 * list(ended.values()).count("completed")

"""Workers, agents and people of one schedule, moved one step at a time. Everything happens in the order it is told.

A worker is what it has in hand: dispatched effects, calls inside, answers, looks. It dies by losing all of it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction

from tests import flushing
from tests.clock import Clock
from tests.property import outside as stage_outside
from tests.property import promises
from tests.property.seen import seen
from workflows import ledger, making, rows, toolbox
from workflows.authority import approvals
from workflows.drain import Drain
from workflows.engine import call, dispatch, findings, look, people, record
from workflows.engine.advance import advance
from workflows.engine.cancel import cancel, cancel_by_person
from workflows.engine.overdue import overdue
from workflows.engine.recover import recover
from workflows.engine.release import release
from workflows.engine.remedy import RemedyBody, remedy
from workflows.engine.reopen import reopen
from workflows.engine.reopen import settle as settle_word
from workflows.engine.resume import resume
from workflows.engine.start import StartBody, start_run
from workflows.errors import MakegoodError
from workflows.models import Agent, Approval, Effect, Run, Tool, Workflow
from workflows.outcomes import Outcome

PATIENCE = 10.0  # seconds for a thread to come inside
LEASE = 30.0  # seconds; with the tools' timeout of five, an age
_numbers = itertools.count(1)


@dataclasses.dataclass
class Worker:
    """`inside`: calls under way; `answers`: what came back and is not recorded; `seen`: looks, likewise."""

    name: str
    held: list[Effect] = dataclasses.field(default_factory=list)
    inside: list[tuple[Effect, Future[Outcome], stage_outside.Gate]] = dataclasses.field(default_factory=list)
    answers: list[tuple[Effect, Outcome]] = dataclasses.field(default_factory=list)
    seen: list[look.Asked] = dataclasses.field(default_factory=list)


class Stage:
    def __init__(self, clock: Clock, monkeypatch: Any) -> None:
        empty()
        toolbox.forget()
        self.clock = clock
        self.outside = stage_outside.fresh(clock.elsewhere)
        self.agent = Agent.objects.create(name="drawn", tools=["*"], workflows=["*"])
        self.approver = User.objects.create_user("approver", is_staff=True, is_superuser=True)
        self.workers = [Worker("one"), Worker("two")]
        self.runs: list[Run] = []
        self.beyond: set[str] = set()  # what went on for longer than its tool says is possible
        self.pool = ThreadPoolExecutor(32)
        self._who = self.workers[0]
        for verb in (dispatch, look, record):
            monkeypatch.setattr(verb, "holder_name", lambda: f"elsewhere:1:{self._who.name}")

    def declare(self, *tools: dict[str, Any], after: list[list[str]] | None = None, **options: Any) -> None:
        """One step a tool, named a, b, c, each after the one before unless told otherwise."""
        names = "abcdef"[: len(tools)]
        for name, spec in zip(names, tools, strict=True):
            spec = {**spec, "class": "tests.property.outside.Staged"}
            digest = making.canonical_digest(spec)
            Tool.objects.create(name=f"t.{name}", version=1, kind="python", digest=digest, spec=spec, owner="desk")
        befores = after or [[], *([name] for name in names)][: len(names)]
        steps = [
            {"name": n, "tool": f"t.{n}", "after": b, "arguments": {"of": f"${{ steps.{b[0]}.result.id }}" if b else n}}
            for n, b in zip(names, befores, strict=True)
        ]
        spec = {
            "version": 1, "owner": "desk", "on_failure": "compensate", "after_irreversible": "compensate",
            "deadline": 3600.0, "gate": "none", "input": {"type": "object"}, "steps": steps, **options,
        }  # fmt: skip
        digest = making.canonical_digest(spec)
        self.flow = Workflow.objects.create(name="w", version=1, digest=digest, spec=spec, owner="desk")

    # What agents, workers, people and time do. Each is one step.

    def start(self, key: str = "", **options: Any) -> None:
        key = key or f"key-{next(_numbers)}"
        body = StartBody(workflow="w", subject={"type": "customer", "id": "c", "label": "C"}, digest="same", **options)
        run, _ = start_run(self.agent, key, body)
        known = {other.idempotency_key: other for other in self.runs}
        promises.require(known.get(key, run).id == run.id, "2: one start under one key is one run")
        if key not in known:
            self.runs.append(run)

    def advance(self) -> None:
        advance()

    def release(self) -> None:
        release(8)

    def dispatch(self, worker: int = 0, number: int = 8) -> None:
        self._who = self.workers[worker]
        self._who.held += dispatch.dispatch(number)

    def begin(self, worker: int = 0) -> None:
        who = self.workers[worker]
        if not who.held:
            return
        stopped = {run.id for run in seen().runs if run.phase in ("unwinding", "over")}
        effects, who.held = who.held, []
        began = min(effect.sending.started_at for effect in effects)
        gates = []
        for effect, future in call.begin(effects, self.pool, began):
            gate = self._inside(effect, future)
            if gate is None:
                who.answers.append((effect, future.result()))
            else:
                who.inside.append((effect, future, gate))
                gates.append(gate)
        promises.at_the_wire(self.outside, gates, stopped)

    def _inside(self, effect: Effect, future: Future[Outcome]) -> stage_outside.Gate | None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and not future.done():
            with self.outside.lock:
                for gate in self.outside.inside.values():
                    if gate.call.attempt == effect.sending.number and gate.call.key.startswith(effect.key):
                        return gate
            time.sleep(0.0005)
        assert future.done(), "the call never began"
        return None

    def answer(self, word: str = "well", worker: int = 0, which: int = 0, late: float = 0.0) -> None:
        """A call comes back into its worker's hand."""
        who = self.workers[worker] if self.workers[worker].inside else self.workers[1 - worker]
        if who.inside:
            effect, future, gate = who.inside.pop(which % len(who.inside))
            self._goes_on(effect, word)
            gate.open(word, late)
            who.answers.append((effect, future.result(PATIENCE)))

    def _goes_on(self, effect: Effect, word: str) -> None:
        assert effect.lease_until is not None
        if word in ("well", "lost_after") and self.clock.now() > effect.lease_until.timestamp():
            self.beyond.add(effect.compensates.key if effect.compensates else effect.key)

    def record(self, worker: int = 0) -> None:
        self._who = self.workers[worker]
        answers, self._who.answers = self._who.answers, []
        done: set[Any] = set()
        for effect, outcome in answers:  # one for each effect in a set
            if effect.id in done:
                record.record([(effect, outcome)])
        first = {effect.id: (effect, outcome) for effect, outcome in reversed(answers)}
        record.record(list(first.values()))

    def look(self, worker: int = 0, *, unreachable: int = 0, lag: float = 0.0) -> None:
        """Looks are made; what they saw is in the worker's hand."""
        self._who = self.workers[worker]
        self.outside.unreachable, self.outside.lag = unreachable, lag
        effects = look.claim(8)
        if effects:
            jobs, begun = look.begin(effects, self.pool)
            self._who.seen += [(effect, future.result(PATIENCE), begun) for effect, future in jobs]
        self.outside.unreachable, self.outside.lag = 0, 0.0

    def saw(self, worker: int = 0) -> None:
        self._who = self.workers[worker]
        seen, self._who.seen = self._who.seen, []
        first = {asked[0].id: asked for asked in reversed(seen)}
        if left := look.record(list(first.values())) if first else []:
            look.anew(left)

    def crash(self, worker: int = 0, word: str = "lost_after") -> None:
        """The process is gone; what it had sent takes its way."""
        who = self.workers[worker]
        for effect, _, gate in who.inside:
            self._goes_on(effect, word)
            gate.open(word)
        for _, future, _ in who.inside:
            future.result(PATIENCE)
        self.workers[worker] = Worker(who.name)

    def step(self, seconds: float) -> None:
        self.clock.step(seconds)

    def sweep(self) -> None:
        recover()
        overdue()
        approvals.sweep()

    def cancel(self, which: int = 0) -> None:
        if self.runs:
            _try(lambda: cancel(self.agent, self.runs[which % len(self.runs)].id, reason="drawn"))

    def person(self, act: str) -> None:
        by = {"by": "person:drawn", "why": "drawn"}
        stuck = Effect.objects.filter(state="stuck").order_by("id").first()
        turning = Run.objects.filter(phase="unwinding", needs_person=True).order_by("id").first()
        if stuck is not None and act in ("look_again", "write_off"):
            _try(lambda: getattr(people, act)(stuck.id, **by))
        elif turning is not None and act in ("compensate_run", "write_off_run"):
            _try(lambda: getattr(people, act)(turning.id, **by))

    def lose(self, which: int = 0) -> None:
        """Something that a run that goes forward built upon is said to be gone."""
        going = Effect.objects.filter(kind="forward", state="verified", run__phase__in=["open", "running"])
        if known := list(going.order_by("id")):
            effect = known[which % len(known)]
            with transaction.atomic():
                ledger.wake_runs([effect.run_id])
                effect.stick(reason="gone", detail="drawn", world="present")
                ledger.save_effects([effect], now=rows.now())

    def rename(self, which: int = 0) -> None:
        """The same, at once or before, and a person says what it is called."""
        lost = Effect.objects.filter(kind="forward", state="stuck", reason="gone").order_by("id")
        if not lost.exists():
            self.lose(which)
        if (effect := lost.first()) is None:
            return
        name = f"id-{next(_numbers)}"
        _try(lambda: findings.found(effect.id, by="person:drawn", why="drawn", result={"id": name}))

    def person_on_run(self, act: str, which: int = 0) -> None:
        """What a person does to the run as a whole, whether it needs them or not."""
        run_id, by = self.runs[which % len(self.runs)].id, {"by": "person:drawn", "why": "drawn"}
        acts: dict[str, Callable[[], object]] = {
            "cancel": lambda: cancel_by_person(run_id, then="compensate", **by),
            "hold": lambda: cancel_by_person(run_id, then="hold", **by),
            "says": lambda: reopen(run_id, **by),
            "settles": lambda: settle_word(run_id, **by),
            "write_off": lambda: people.write_off_run(run_id, **by),
        }
        _try(acts[act])

    def go_forward_again(self) -> None:
        """Every run that is held and can."""
        for run in self.runs:
            _try(functools.partial(resume, run.id, by="person:drawn", why="drawn"))

    def make_good(self, which: int) -> None:
        """By a tool of the run itself; of what is stuck in it, if there is anything."""
        run = self.runs[which % len(self.runs)]
        of = (effect for effect in seen().effects if effect.run_id == str(run.id) and effect.kind == "forward")
        stuck = min((uuid.UUID(effect.id) for effect in of if effect.state == "stuck"), default=None)
        body = RemedyBody(tool="t.a", arguments={"of": "a"}, makes_good=stuck, request=str(which), again=True)
        _try(lambda: remedy(run.id, body, by="person:drawn", why="drawn"))

    def approve(self) -> None:
        for approval in Approval.objects.filter(state="asked").order_by("id"):
            _try(
                functools.partial(
                    approvals.vote, approval.id, by=self.approver, why="drawn", seen_digest=approval.digest
                )
            )

    def settle(self) -> None:
        """The schedule ends: whatever is under way ends well, and the engine goes on until nothing moves by itself."""
        for number, who in enumerate(self.workers):
            while who.inside:
                self.answer("well", number)
            self.record(number)
            self.saw(number)
        self.outside.free = True
        self.step(2 * LEASE)
        drain = Drain(slots=8)
        try:
            self.clock.pass_time(drain, until=self._still)
        finally:
            drain.close()

    def _still(self) -> bool:
        """What needs people waits for ever; of the rest all must be over."""
        now = seen()
        waiting = any(run.phase != "over" and not run.needs_person for run in now.runs)
        moving = any(effect.state in ("ready", "dispatched", "pending", "unknown") for effect in now.effects)
        return not waiting and not moving

    def close(self) -> None:
        for who in self.workers:
            for _, _, gate in who.inside:
                gate.open("lost_before")
        self.pool.shutdown()


def _try(act: Callable[[], object]) -> None:
    """What can't be done is refused with a clear error; anything else is a bug."""
    with contextlib.suppress(MakegoodError):
        act()


def empty() -> None:
    """As if nothing had ever been: schedules share a database, and nothing of theirs."""
    operations: Any = connection.ops
    flushing.empty(operations, [])

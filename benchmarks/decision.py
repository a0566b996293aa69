"""What the policy adds to a dispatch: statements and milliseconds, by the size of the set (`--decision`).

The same dispatch takes turns with and without its decision; the baseline writes the same rows and asks nothing. Then
once more with a budget that all of it falls under. The least of many turns counts: what else the machine does only
adds, more to the time that elapsed than to this process's own.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import itertools
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from workflows import rows
from workflows.authority import raising
from workflows.engine import dispatch, record
from workflows.engine.advance import advance
from workflows.engine.parts import permission
from workflows.engine.start import StartBody, start_run
from workflows.fetch import new
from workflows.models import Agent, Decision, Effect
from workflows.outcomes import Acknowledged

SIZES = (1, 8, 64)
TURNS = 60  # of each kind and size; fewer differ by more than what is measured
AGAIN = 150  # times that one set is decided on
PROMISED_STATEMENTS, PROMISED = 1, 1.0  # one more statement, milliseconds
_numbers = itertools.count()
_tag = uuid.uuid4().hex


@dataclasses.dataclass(frozen=True, slots=True)
class Measure:
    """Of one dispatch: statements, and milliseconds elapsed and of this process's own time."""

    statements: int
    elapsed: float
    own: float


def text() -> str:
    """Measures on the database that the settings name, prepared by `ledger.prepare`, and says what it found."""
    lines = ["", "What a policy decision adds to one dispatch (the least of many turns)"]
    lines += [f"  {size:3} effects, decision alone: {alone(size):+.2f} ms, its statement included" for size in SIZES]
    lines += [_line(size, "decision", *measured(size)) for size in SIZES]
    raising.change("agent:bench", "ever", {"calls": 10**9}, by="bench", why="to be measured")
    lines += [_line(size, "decision and budget", *measured(size)) for size in SIZES]
    lines.append(f"Promised of a decision: at most {PROMISED_STATEMENTS} statement, and under {PROMISED:g} ms.")
    return "\n".join(lines)


def _line(size: int, what: str, bare: Measure, full: Measure) -> str:
    return (
        f"  {size:3} effects, {what:20} +{full.statements - bare.statements} statements"
        f"  {full.elapsed - bare.elapsed:+6.2f} ms elapsed ({bare.elapsed:.2f} without)"
        f"  {full.own - bare.own:+6.2f} ms of our own ({bare.own:.2f} without)"
    )


def alone(size: int) -> float:
    """Milliseconds that deciding takes beyond the baseline's part, again and again inside one and the same dispatch."""
    found: list[float] = []
    real = permission.ask

    def ask(effects: Sequence[Effect], now: dt.datetime, stopped: list[Effect]) -> tuple[list[Effect], list[Decision]]:
        least = [min(_span(one, effects, now) for _ in range(AGAIN)) for one in (_unasked, real)]
        found.append(least[1] - least[0])
        return real(effects, now, stopped)

    _ready(size)
    permission.ask = ask
    try:
        going = dispatch.dispatch(size)
    finally:
        permission.ask = real
    _answered(going, size)
    return found[0]


def _span(ask: Any, effects: Sequence[Effect], now: dt.datetime) -> float:
    begun = time.perf_counter()
    ask(effects, now, [])
    return 1000 * (time.perf_counter() - begun)


def measured(size: int) -> tuple[Measure, Measure]:
    """Dispatching so many effects without the decision, and with it."""
    spans: dict[bool, list[tuple[float, float]]] = {False: [], True: []}
    for turn in range(2 * TURNS):
        with_policy = turn % 2 == 1
        spans[with_policy].append(_once(size, with_policy))
    return _measure(size, False, spans), _measure(size, True, spans)


def _measure(size: int, with_policy: bool, spans: Mapping[bool, Sequence[tuple[float, float]]]) -> Measure:
    elapsed, own = zip(*spans[with_policy], strict=True)
    return Measure(_statements(size, with_policy), min(elapsed), min(own))


def _once(size: int, with_policy: bool) -> tuple[float, float]:
    _ready(size)
    with _policy(with_policy):
        begun, own = time.perf_counter(), time.process_time()
        going = dispatch.dispatch(size)
        span = 1000 * (time.perf_counter() - begun), 1000 * (time.process_time() - own)
    _answered(going, size)
    return span


def _statements(size: int, with_policy: bool) -> int:
    _ready(size)
    with _policy(with_policy), CaptureQueriesContext(connection) as queries:
        going = dispatch.dispatch(size)
    _answered(going, size)
    return len(queries)


def _ready(size: int) -> None:
    agent = Agent.objects.get(name="bench")
    with transaction.atomic():
        for number in itertools.islice(_numbers, size):
            body = StartBody(workflow="one-step", subject={"type": "customer", "id": str(number)}, digest=str(number))
            start_run(agent, f"decision-{_tag}-{number}", body)
    advance(size)


def _answered(going: Sequence[Effect], size: int) -> None:
    """Outside the span: what left is answered, so that the next turn finds the same state of things."""
    if len(going) != size:
        raise RuntimeError(f"{len(going)} of {size} effects left; the figures would not be of the same work.")
    record.record([(effect, Acknowledged(result={"id": "1"})) for effect in going])


@contextlib.contextmanager
def _policy(asked: bool) -> Iterator[None]:
    real = permission.ask
    permission.ask = real if asked else _unasked  # type: ignore[assignment]
    try:
        yield
    finally:
        permission.ask = real


def _unasked(
    effects: Sequence[Effect], now: dt.datetime, _stopped: list[Effect]
) -> tuple[list[Effect], list[Decision]]:
    return list(effects), [
        new(
            Decision,
            agent_id=effect.agent_id,
            effect_id=effect.id,
            act=f"{effect.kind} {effect.tool.name}",
            verdict="allow",
            policy="none",
            rule="none",
            reason="",
            inputs={"attempt": effect.attempts + 1, "at": rows.encode(now.isoformat())},
            at=now,
        )
        for effect in effects
    ]

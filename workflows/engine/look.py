"""Looks at the authoritative state of effects that are not settled, asks after accepted work, and records what it saw.

A look carries the fence it began under: one that comes back to another fence is kept and causes a new one.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from typing import Any

from workflows import ledger, making, rows
from workflows.authority import credentials, static_secrets
from workflows.engine.parts import heed, look_pace, promises, suspects, told
from workflows.engine.parts.door import calls_of, guarded, seen
from workflows.engine.parts.joined import join_runs, join_tools
from workflows.fetch import fetch, new
from workflows.holders import holder_name
from workflows.models import Effect, Look
from workflows.outcomes import Acknowledged, NotSent, Outcome, Pending, Refused, Sighting, Unknown, Verdict
from workflows.policies import after_look, at_rest, backoff, poison
from workflows.policies import next as decided
from workflows.policies.after_outcome import after_outcome, doubted
from workflows.states import LOOKED_AT_SQL, REST, EffectState
from workflows.toolbox import times_of
from workflows.tools.base import Tool
from workflows.tools.call import Call
from workflows.tools.timings import Timings

S = EffectState
Answer = Sighting | Outcome | None  # None where no look is declared
Asked = tuple[Effect, Answer, dt.datetime]  # the effect as it was when the look began, what it showed, when it began


def begin(effects: Sequence[Effect], pool: Executor) -> tuple[list[tuple[Effect, Future[Answer]]], dt.datetime]:
    """Starts looks at claimed effects; the moment is when they began."""
    begun = rows.now()
    calls = calls_of(effects, begun)
    asked = [
        (effect, pool.submit(_ask, effect.state, effect.poll, making.may_look(effect), tool, call))
        for effect, (tool, call) in zip(effects, calls, strict=True)
    ]
    return asked, begun


def claim(limit: int) -> list[Effect]:
    """Up to `limit` effects whose time to be looked at has come; nobody else will, until the look is overdue."""
    with rows.together():
        now = rows.now()
        holder = holder_name()
        effects = suspects.to_look_at(fetch(Effect, DUE, [now, poison.TOO_OFTEN, limit]), holder, now)
        if effects:
            join_tools(effects)
            effects = look_pace.let(effects, now)
        if effects:
            join_runs(effects)
            ledger.look_begins(effects, until=told.overdue_at(now), holder=holder)
        return effects


DUE = f"""
WHERE t.state IN ({LOOKED_AT_SQL}) AND t.due_at <= %s
AND t.unseen < %s
AND (t.state <> 'blocked' OR t.reason = 'dependency')
ORDER BY t.due_at LIMIT %s FOR UPDATE SKIP LOCKED
"""


def _ask(state: str, poll: Any, granted: bool, tool: Tool, call: Call) -> Answer:
    """None where no look is declared, or none granted."""
    if state == S.PENDING:
        return guarded(lambda: tool.poll(call, poll or {}))
    if not granted or not tool.timings(call.operation).verifies:
        return None
    return seen(lambda: tool.look(call))


def record(asked: Sequence[Asked]) -> list[Asked]:
    """Writes what looks and polls showed, under the fence and at the place in the chain they began with.

    Returns those that are to be decided `anew`: of effects that somebody moved meanwhile, of undoings, whose forward
    effect counts as it is now, and of what was settled before, whose undoing may have begun."""
    credentials.heed(a.rejected for _, a, _ in asked if isinstance(a, Sighting | Refused))
    static_secrets.heed((effect, answer) for effect, answer, _ in asked)
    moved, looks = [], []
    with rows.together():
        now = rows.now()
        for effect, answer, begun in [(e.twin(), a, b) for e, a, b in asked if not (e.compensates_id or _once_more(e))]:
            was = effect.misses
            _came_back(effect, answer, begun)
            decided.apply(effect, _decide(effect, answer, begun, now))
            moved.append(effect)
            if isinstance(answer, Sighting):
                looks.append(_row(effect, effect.fence, answer, begun, now, counted=_counted(effect, answer, was)))
        ledger.wake_runs({e.run_id for e in moved if decided.concerns_run(e)})
        promises.judge(moved, now)
        written = ledger.save_effects(moved, now=now)
        look_pace.learn([(effect, answer) for effect, answer, _ in asked], now)
        ledger.saw([look for look in looks if look.effect_id in written])
    return [one for one in asked if one[0].id not in written]


def anew(asked: Sequence[Asked]) -> None:
    """Decides on effects as they are now. A look whose fence or state is gone changes nothing, and causes a new one."""
    with rows.together():
        now = rows.now()
        answers = {e.id: (e, answer, begun) for e, answer, begun in asked}
        ledger.wake_runs({e.run_id for e, _, _ in asked})
        present = fetch(Effect, "WHERE t.id = ANY (%s) ORDER BY t.id FOR UPDATE", [list(answers)])
        join_tools(present)
        moved, looks = [], []
        turned = _turned([effect for effect in present if _once_more(effect)])
        last = told.last_looks([e.id for e in present if told.came(e, answers[e.id][0])])
        for effect in present:
            old, answer, begun = answers[effect.id]
            stale = (effect.fence, effect.state) != (old.fence, old.state) or effect.id in turned
            was = effect.misses
            if not stale:
                _came_back(effect, answer, begun)
                due = effect.due_at if effect.due_at != old.due_at else None
                if told.came(effect, old):
                    due = told.due(effect, last.get(effect.id), now)
                decided.apply(effect, _decide(effect, answer, begun, now))
                if due and effect.event == decided.NOTE:
                    effect.due_at = min(due, effect.due_at or due)
                moved.append(effect)
            elif isinstance(answer, Sighting) and heed.a_look(effect, answer, now):
                moved.append(effect)
            if isinstance(answer, Sighting):
                counted = not stale and _counted(effect, answer, was)
                looks.append(_row(effect, old.fence, answer, begun, now, stale=stale, counted=counted))
        ledger.saw(looks)
        ledger.postpone(turned, [None] * len(turned))
        promises.judge(moved, now)
        ledger.save_effects(moved, now=now)


def _once_more(effect: Effect) -> bool:
    return effect.state == S.VERIFIED or effect.state in REST


def _turned(settled: list[Effect]) -> list[uuid.UUID]:
    """Acts whose undoing has begun since they were to be looked at once more: what it leaves is for its own looks."""
    ids = [effect.id for effect in settled if not effect.compensates_id]
    begun = Effect.objects.filter(compensates__in=ids).exclude(state=S.CANCELLED) if ids else Effect.objects.none()
    over = {effect.id for effect in settled if effect.at_rest}
    return [of for of in begun.values_list("compensates_id", flat=True) if of not in over]


def _came_back(effect: Effect, answer: Answer, begun: dt.datetime) -> None:
    effect.holder, effect.unseen = "", 0
    match answer:
        case Sighting(reached=False) | NotSent() | Unknown():
            effect.unreached_since, effect.unreached = effect.unreached_since or begun, answer.reason
        case Sighting() | Acknowledged() | Pending() | Refused():
            effect.unreached_since, effect.unreached = None, ""
        case None:  # nothing was asked
            pass


def _counted(effect: Effect, seen_: Sighting, misses: int) -> bool:
    """Whether a look counted; `misses` is their number before it."""
    shows = seen_.verdict in (Verdict.FOUND, Verdict.DIFFERS, Verdict.SEVERAL)
    return shows or effect.misses > misses or effect.event in ("resend", "fail", "stick")


def _decide(effect: Effect, answer: Answer, begun: dt.datetime, now: dt.datetime) -> decided.Next:
    times = times_of(effect)
    if answer is None:
        return at_rest.as_believed() if _once_more(effect) else after_look.without_look(effect, times, now)
    if not isinstance(answer, Sighting):
        return _after_poll(effect, answer, times, now)
    if effect.state == S.BLOCKED:
        return after_look.asked_first(effect, answer, times, begun_at=begun, now=now)
    if _once_more(effect):
        decide = at_rest.looked_at_rest if not effect.compensates_id else at_rest.looked_once_more
        return decide(effect, answer, times, now=now)
    if answer.verdict == Verdict.FOUND and (until := _sentinel(effect, now)):
        return decided.Next(move=decided.NOTE, knows={"due": until + after_look.A_MOMENT, "misses": 0})
    return after_look.after_look(effect, answer, times, begun_at=begun, now=now)


def _after_poll(effect: Effect, answer: Outcome, times: Timings, now: dt.datetime) -> decided.Next:
    """Accepted work goes on until its own time is over; then nobody knows, and it is looked for."""
    match answer:
        case Acknowledged() | Refused(temporary=False):
            return after_outcome(effect, answer, times, now)
        case Unknown() if times.verifies and effect.looks_until and now < effect.looks_until:
            # The work may still go on where nobody can ask after it: what is there counts, a miss only after its time.
            step = doubted(f"its poll address is lost: {answer.reason}", times, effect.looks_until)
            step.knows["due"] = now
            return step
        case Pending() | Refused() | NotSent() | Unknown():
            if effect.looks_until and now >= effect.looks_until:
                return doubted("the provider's own work did not end in its time", times, now)
            wait = max(times.poll_every, min(getattr(answer, "retry_after", None) or 0.0, backoff.LOOK_CAP))
            poll = dict(answer.poll) if isinstance(answer, Pending) else effect.poll
            return decided.Next(move=decided.NOTE, knows={"due": now + dt.timedelta(seconds=wait), "poll": poll})


def _sentinel(effect: Effect, now: dt.datetime) -> dt.datetime | None:
    """An undoing that found nothing of something never seen is final only once the late time is past."""
    of = effect.compensates
    if of is None or effect.place or not of.doubt or of.late_until is None or now >= of.late_until:
        return None
    return of.late_until


def _row(
    effect: Effect,
    fence: int,
    seen_: Sighting,
    begun: dt.datetime,
    now: dt.datetime,
    *,
    counted: bool,
    stale: bool = False,
) -> Look:
    return new(
        Look,
        effect_id=effect.id,
        fence=fence,
        begun_at=begun,
        ended_at=now,
        verdict=seen_.verdict.value,
        reason=seen_.reason,
        reached=seen_.reached,
        counted=counted,
        stale=stale,
        evidence={**seen_.evidence, **({"result": dict(seen_.result)} if seen_.result else {})},
    )

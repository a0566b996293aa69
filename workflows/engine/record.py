"""Records outcomes of sends, in small groups, under the fence that the sends went out with.

What comes under an older fence changes no state: it is kept with its attempt, and positive evidence causes a look.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from workflows import ledger, rows
from workflows.authority import budgets, credentials, static_secrets
from workflows.engine.parts import gauges, heed, look_pace, promises, told
from workflows.holders import holder_name
from workflows.models import Attempt, Effect
from workflows.outcomes import Acknowledged, NotSent, Outcome, Pending, Refused, Unknown
from workflows.policies import next as decided
from workflows.policies.after_outcome import after_outcome
from workflows.states import EffectState
from workflows.toolbox import times_of


def record(answered: Sequence[tuple[Effect, Outcome]], *, looks: int = 0) -> list[Effect]:
    """Writes each outcome, in a constant number of statements.

    Returns up to `looks` effects whose first look the caller begins at once: nobody else will until it is overdue."""
    if not answered:
        return []
    credentials.heed(o.rejected for _, o in answered if isinstance(o, Refused))
    static_secrets.heed(answered)
    # Twins are moved, so that a transaction that is repeated begins with effects as they were dispatched.
    answered = [(effect.twin(), outcome) for effect, outcome in answered]
    with rows.together():
        now = rows.now()
        effects = [effect for effect, _ in answered]
        heed.doubt(answered)
        two = promises.twice_named(answered)
        for effect, outcome in answered:
            effect.unanswered = 0
            step = two.get(effect.id) or after_outcome(effect, outcome, times_of(effect), now)
            decided.apply(effect, step)
            effect.payload = {"outcome": word_of(outcome), "attempt": effect.sending.number if effect.sending else None}
        slow = look_pace.held([effect.tool for effect in effects], now)
        mine = _looked_at_now([e for e in effects if e.tool.name not in slow], looks, now)
        ledger.wake_runs({e.run_id for e in effects if decided.concerns_run(e)})
        promises.judge(effects, now)
        written = ledger.save_effects(effects, now=now)
        gauges.learn(answered, now)
        budgets.settle([(e, o) for e, o in answered if e.id in written], now)
        late = [(e, o) for e, o in answered if e.id not in written]
        ledger.complete([_ended(e.sending, o, now, stale=e.id not in written) for e, o in answered if e.sending])
        if late:
            heeded = heed.answers(late, now)
            promises.judge(heeded, now)
            ledger.save_effects(heeded, now=now)
    return [effect for effect in mine if effect.id in written]


def _looked_at_now(effects: Sequence[Effect], limit: int, now: dt.datetime) -> list[Effect]:
    """Claims the look that follows an answer in the answer's own write."""
    mine = [e for e in effects if e.state in (EffectState.ACKNOWLEDGED, EffectState.UNKNOWN) and e.due_at == now]
    for effect in mine[:limit]:
        effect.due_at, effect.holder = told.overdue_at(now), holder_name()
        effect.unseen += 1
    return mine[:limit]


def word_of(outcome: Outcome) -> str:
    match outcome:
        case Acknowledged():
            return "acknowledged"
        case Pending():
            return "pending"
        case NotSent():
            return "not_sent"
        case Refused():
            return "temporary" if outcome.temporary else "refused"
        case Unknown():
            return "in_flight" if outcome.in_flight else "unknown"


def _ended(attempt: Attempt, outcome: Outcome, now: dt.datetime, *, stale: bool) -> Attempt:
    attempt.ended_at, attempt.outcome, attempt.stale = now, word_of(outcome), stale
    attempt.reason = getattr(outcome, "reason", "")
    evidence: dict[str, Any] = dict(outcome.evidence)
    if isinstance(outcome, Acknowledged):
        evidence["result"] = dict(outcome.result)
    attempt.evidence = evidence
    return attempt

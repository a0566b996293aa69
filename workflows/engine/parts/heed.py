"""Heeds what comes late: it changes no state by itself, but what it proves is looked at. For record and look only."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from workflows import ledger
from workflows.engine.parts.asked_first import look_first
from workflows.fetch import fetch
from workflows.models import Attempt, Effect
from workflows.outcomes import Acknowledged, NotSent, Outcome, Pending, Refused, Sighting, Unknown, Verdict
from workflows.policies.after_look import two_names
from workflows.policies.after_outcome import horizon
from workflows.states import REST, EffectState, World
from workflows.toolbox import give_tools, times_of

S, W = EffectState, World
MAYBE_DONE = ("acknowledged", "pending", "unknown", "in_flight")  # outcomes after which something may be there


def answers(late: Sequence[tuple[Effect, Outcome]], now: dt.datetime) -> list[Effect]:
    """The effects that have to be written because of answers that came under an old fence; the caller saves them."""
    told = {effect.id: outcome for effect, outcome in late if isinstance(outcome, Acknowledged | Pending | Unknown)}
    if not told:
        return []
    ledger.wake_runs({effect.run_id for effect, _ in late})
    effects = fetch(Effect, "WHERE t.id = ANY (%s) ORDER BY t.id FOR UPDATE", [list(told)])
    give_tools(effects)
    return [effect for effect in effects if _heed(effect, told[effect.id], now)]


def _heed(effect: Effect, outcome: Outcome, now: dt.datetime) -> bool:
    yes = isinstance(outcome, Acknowledged)
    if isinstance(outcome, Acknowledged) and (two := two_names(effect, outcome.result, times_of(effect))):
        if effect.state == S.STUCK:
            effect.world, effect.detail = W.SEVERAL.value, f"{effect.detail}; {two}"
            effect.note()
        else:
            effect.stick(reason="several", detail=two, world="several")
        return True
    if effect.state in (S.UNKNOWN, S.ACKNOWLEDGED, S.READY, S.BLOCKED) and effect.verifiable:
        _learn(effect, outcome, now)
        if effect.state in (S.READY, S.BLOCKED):
            look_first(effect, "a late answer came", now)
        else:
            effect.due_at = now
            effect.note()
        return True
    if effect.state == S.PENDING:
        _learn(effect, outcome, now)  # what a poll denies may have been done by the earlier send
        effect.note()
        return True
    if yes and effect.state == S.STUCK:
        _learn(effect, outcome, now)
        effect.world = W.UNKNOWN.value if effect.world == W.NOTHING else effect.world
        effect.detail = f"{effect.detail}; a late yes came at {now.isoformat(timespec='seconds')}"
        effect.note()
        return True
    accepted = effect.state == S.WRITTEN_OFF and effect.world != W.NOTHING  # whoever wrote it off reckoned with it
    if effect.state in REST and not accepted:
        what = "a yes came" if yes else "a call for it ended, and nobody knows what it did,"
        detail = f"{what} after it was believed that nothing happened"
        effect.stick(reason="late_answer", detail=detail, world="unknown")
        return True
    return False


def _learn(effect: Effect, outcome: Outcome, now: dt.datetime) -> None:
    """Something may be there from now on, however often it was not seen before."""
    keep, effect.doubt = effect.looks_until, True
    for name, value in horizon(times_of(effect), now).items():
        setattr(effect, name, value)
    if effect.state == S.PENDING:
        effect.looks_until = keep  # until when it is polled
    if isinstance(outcome, Acknowledged) and effect.result is None:
        effect.result = dict(outcome.result)


def doubt(answered: Sequence[tuple[Effect, Outcome]]) -> None:
    """A refusal, or that nothing was sent, proves nothing where an earlier send told of itself in the meantime."""
    denied = {e.id: e for e, o in answered if isinstance(o, Refused | NotSent) and e.fence > 1 and e.sending}
    if not denied:
        return
    ledger.wake_runs({effect.run_id for effect in denied.values()})  # so that what is told now waits for this
    since = min(effect.sending.started_at for effect in denied.values())
    told = Attempt.objects.filter(effect_id__in=denied, stale=True, ended_at__gte=since, outcome__in=MAYBE_DONE)
    for attempt in told.order_by("id"):
        effect = denied[attempt.effect_id]
        if attempt.ended_at is None or attempt.ended_at < effect.sending.started_at:
            continue
        yes = attempt.outcome == "acknowledged"
        outcome = Acknowledged(result=attempt.evidence.get("result", {})) if yes else Unknown(reason="")
        _learn(effect, outcome, attempt.ended_at)


def a_look(effect: Effect, seen: Sighting, now: dt.datetime) -> bool:
    """A look that came back to another state than it began in: whether the effect has to be written because of it."""
    if effect.state in (S.UNKNOWN, S.ACKNOWLEDGED):
        effect.due_at = now
        effect.note()
        return True
    if seen.verdict not in (Verdict.FOUND, Verdict.DIFFERS, Verdict.SEVERAL):
        return False
    if effect.state in (S.READY, S.BLOCKED):
        look_first(effect, "a late look saw something", now)
        return True
    if effect.state in (S.FAILED, S.CANCELLED):
        detail = "a look that came late had seen something after all"
        effect.stick(reason="late_answer", detail=detail, world="unknown")
        return True
    return False

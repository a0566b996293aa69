"""Decides what an answer to a send, or its absence, means for an effect. Pure; `record` and `look` apply it.

1. Yes: acknowledged; a look follows where one can verify.
2. Accepted, goes on: pending, asked again later.
3. Nothing left us: back to ready, not counted.
4. Refused: this send did nothing. If an earlier one ended unknown, that doubt is looked at first.
5. Unknown: nobody knows; looked at, or the same key sent again, or a person.
"""

from __future__ import annotations

import datetime as dt

from workflows.outcomes import CHANGED, Acknowledged, NotSent, Outcome, Pending, Refused, Unknown
from workflows.policies import backoff
from workflows.policies.next import Facts, Next
from workflows.tools.timings import Timings


def after_outcome(effect: Facts, outcome: Outcome, times: Timings, now: dt.datetime) -> Next:
    """`now` is after the answer, by the database's clock."""
    match outcome:
        case Acknowledged():
            return acknowledged(effect, outcome, times, now)
        case Pending():
            until = effect.looks_until if effect.state == "pending" else None
            return pending(outcome, times, now, until)
        case NotSent():
            return not_sent(effect, outcome, times, now)
        case Refused():
            return refused(effect, outcome, times, now)
        case Unknown():
            return unknown(effect, outcome, times, now)


def acknowledged(effect: Facts, outcome: Acknowledged, times: Timings, now: dt.datetime) -> Next:
    knows = horizon(times, now)
    if not effect.verifiable:
        return Next(move="acknowledge", fields={"result": dict(outcome.result)}, knows=knows)
    return Next(move="acknowledge", fields={"result": dict(outcome.result)}, knows={**knows, "due": now})


def pending(outcome: Pending, times: Timings, now: dt.datetime, until: dt.datetime | None) -> Next:
    until = until or now + dt.timedelta(seconds=times.poll_within)
    due = now + dt.timedelta(seconds=times.poll_every)
    return Next(move="pend", fields={"poll": dict(outcome.poll), "due_at": due, "until": until})


def not_sent(effect: Facts, outcome: NotSent, times: Timings, now: dt.datetime) -> Next:
    reason = outcome.reason
    if effect.doubt:
        return unsettled(effect, f"not sent ({reason}), but an earlier send is not settled", times, now)
    due = backoff.after(now, times.first, effect.backoffs, times.max, salt=effect.key)
    if late(effect, times, due) and not outcome.held:
        return spent(effect, "not_sent", reason)
    return Next(move="give_back", fields={"due_at": due, "reason": "not_sent", "detail": reason, "sent": False})


def refused(effect: Facts, outcome: Refused, times: Timings, now: dt.datetime) -> Next:
    if outcome.mismatch:
        return mismatch(effect, outcome, times, now)
    if outcome.rejected and not effect.doubt:
        # Who asked was refused, not what was asked: no attempt is used up, and no time for trying.
        due = backoff.after(now, times.first, effect.backoffs, times.max, salt=effect.key)
        fields = {"due_at": due, "reason": "temporary", "detail": outcome.reason, "sent": False}
        # A person's second try counts from one again, and what may have left before it did leave.
        unsent = {"first_sent_at": None} if effect.attempts == 1 and effect.believe_miss_from is None else {}
        return Next(move="give_back", fields=fields, knows=unsent)
    if effect.doubt:
        detail = f"refused ({outcome.reason}), but an earlier send is not settled"
        if not outcome.temporary:
            return unsettled(effect, detail, times, now, reason=outcome.code or "refused")
        return unsettled(effect, detail, times, now, wait=outcome.retry_after or 0.0)
    if not outcome.temporary and effect.believe_miss_from is not None and times.verifies:
        # An earlier send ended unknown and was looked for in vain. What stands in the way now may be ours after all.
        detail = f"refused ({outcome.reason}) after a send without an answer"
        return unsettled(effect, detail, times, now, reason=outcome.code or "refused")
    if outcome.code == CHANGED and times.verifies and effect.verifiable:
        return contested(outcome, times, now)
    if not outcome.temporary:
        return spent(effect, outcome.code or "refused", outcome.reason)
    if effect.attempts >= times.attempts:
        return spent(effect, "limits", f"refused {effect.attempts} times, last: {outcome.reason}")
    due = backoff.after(now, times.first, effect.attempts - 1, times.max, salt=effect.key)
    if outcome.retry_after is not None:
        asked = min(outcome.retry_after, backoff.RETRY_AFTER_CAP)
        due = max(due, now + dt.timedelta(seconds=asked))
    if late(effect, times, due):
        return spent(effect, "limits", f"the time for trying again ends before the next try; last: {outcome.reason}")
    fields = {"due_at": due, "reason": "temporary", "detail": outcome.reason, "sent": True}
    return Next(move="give_back", fields=fields)


def unknown(effect: Facts, outcome: Unknown, times: Timings, now: dt.datetime) -> Next:
    """A send that met an earlier one still at work is not counted: it only asked. What is replayed stays as it is, so
    no other send follows."""
    step = doubted(outcome.reason, times, now)
    if outcome.in_flight:
        wait = max(times.first, min(outcome.retry_after or 0.0, backoff.RETRY_AFTER_CAP))
        step.fields["reason"] = "in_flight"
        step.knows.update(attempts=effect.attempts - 1, due=now + dt.timedelta(seconds=wait))
    elif outcome.replayed:
        step.fields["reason"] = "replayed"
    return step


def mismatch(effect: Facts, outcome: Refused, times: Timings, now: dt.datetime) -> Next:
    """Something stands under our key that isn't this request, or was: a look may still find it; nothing is sent."""
    if not times.verifies:
        return Next(move="stick", fields={"reason": "key_mismatch", "detail": outcome.reason, "world": "unknown"})
    return unsettled(effect, outcome.reason, times, now, reason="key_mismatch")


def doubted(reason: str, times: Timings, now: dt.datetime, *, lost_lease: bool = False) -> Next:
    """The world is unknown from here on; looks may begin at once, a miss counts only after the horizon."""
    fields = {"reason": "unknown", "detail": reason, "lost_lease": lost_lease}
    return Next(move="lose", fields=fields, knows={**horizon(times, now), "due": now})


def contested(outcome: Refused, times: Timings, now: dt.datetime) -> Next:
    """This send did nothing, because of what somebody did: a look says what stands now. None of ours is under way."""
    step = doubted(outcome.reason, times, now)
    step.fields["reason"] = CHANGED
    until = now + dt.timedelta(seconds=times.within)
    step.knows.update(believe_miss_from=now, late_until=now, looks_until=until)
    return step


def unsettled(
    effect: Facts, detail: str, times: Timings, now: dt.datetime, *, reason: str = "unknown", wait: float = 0.0
) -> Next:
    """This send did nothing, an earlier one may have: its horizon stays. `reason` "refused": none follows any more."""
    step = doubted(detail, times, now)
    step.fields["reason"] = reason
    step.knows["due"] = now + dt.timedelta(seconds=min(wait, backoff.RETRY_AFTER_CAP))
    if effect.believe_miss_from is not None:
        step.knows["believe_miss_from"], step.knows["late_until"] = effect.believe_miss_from, effect.late_until
    return step


def horizon(times: Timings, last_send: dt.datetime) -> dict[str, dt.datetime]:
    """From when a miss is believed, until when looks go on, and until when the request may still take effect."""
    settle, late_time = dt.timedelta(seconds=times.settle), dt.timedelta(seconds=times.late)
    believe = last_send + settle + (dt.timedelta(0) if times.blind else late_time)
    return {
        "believe_miss_from": believe,
        "looks_until": believe + dt.timedelta(seconds=times.within),
        "late_until": last_send + settle + late_time,
    }


def late(effect: Facts, times: Timings, due: dt.datetime) -> bool:
    begun = effect.first_sent_at or due
    return due > begun + dt.timedelta(seconds=times.retry_within)


def spent(effect: Facts, reason: str, detail: str) -> Next:
    """No more sends, and nothing was done: a forward effect fails; anything else needs a person."""
    if effect.forward:
        return Next(move="fail", fields={"reason": reason, "detail": detail})
    return Next(move="stick", fields={"reason": reason, "detail": detail, "world": "nothing"})

"""Decides what one look means for an effect. Pure; `engine.look` applies it.

`found`, `differs` and `several` count whenever seen. A miss counts only in a look begun once it can be believed. A look
that couldn't reach the authority never counts.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Mapping
from typing import Any

from workflows.outcomes import CHANGED, OF_THE_IMAGE, Sighting, Verdict, reference
from workflows.policies import backoff
from workflows.policies.after_outcome import spent
from workflows.policies.next import NOTE, Facts, Next
from workflows.states import Kind
from workflows.tools.timings import Timings

LOOKED_AT_AGAIN = "look_again"  # the reason of an effect that a person asked to be looked at: such a look only reads
# Why an effect is unknown, where whatever the looks show no send follows.
LAST_WORDS = ("refused", "replayed", "key_mismatch", "disputed", "less_remains", "stale_read")
UNPUBLISHED = "the provider doesn't publish how long it remembers our key"
UNDOING = Kind.COMPENSATION.value
REVERSED = "reversed"  # the reason of an undoing that was seen, and is undone itself by whoever
A_MOMENT = dt.timedelta(milliseconds=50)  # past the horizon by more than clocks' grain


def after_look(effect: Facts, seen: Sighting, times: Timings, *, begun_at: dt.datetime, now: dt.datetime) -> Next:
    """`begun_at` and `now` by the database's clock. The caller has checked that the fence is still the look's own."""
    match seen.verdict:
        case Verdict.FOUND if two := two_names(effect, seen.result, times):
            return several(two)
        case Verdict.FOUND:
            knows = {"due": at, "misses": 0} if (at := once_more(times, now, now)) else {}
            return Next(move="verify", fields={"result": dict(seen.result), "at": now}, knows=knows)
        case Verdict.DIFFERS | Verdict.SEVERAL:
            word = "gone" if seen.gone else seen.verdict.value
            return Next(move="stick", fields={"reason": word, "detail": seen.reason, "world": word})
        case Verdict.ABSENT:
            return absent(effect, seen, times, begun_at=begun_at, now=now)
        case Verdict.INCONCLUSIVE:
            return inconclusive(effect, seen, times, begun_at=begun_at, now=now)


def once_more(times: Timings, seen_at: dt.datetime, now: dt.datetime) -> dt.datetime | None:
    """When an undoing that was seen is looked at again; None where it isn't any more."""
    ahead = (seen_at + dt.timedelta(seconds=later) for later in times.recheck)
    return min((at for at in ahead if at > now), default=None)


def two_names(effect: Facts, result: Mapping[str, Any], times: Timings) -> str:
    """That one key, sent more than once, has two objects by now; or ""."""
    before, after = reference(effect.result), reference(result)
    if not times.keyed or effect.attempts < 2 or not before or not after or before == after:
        return ""
    return f"one key, two objects: {before} and {after}"


def several(detail: str) -> Next:
    return Next(move="stick", fields={"reason": "several", "detail": detail, "world": "several"})


def counts(effect: Facts, begun_at: dt.datetime) -> bool:
    """Whether a miss in a look begun then is believed. Of what was never sent it is believed at once."""
    return effect.believe_miss_from is None or begun_at > effect.believe_miss_from


def absent(effect: Facts, seen: Sighting, times: Timings, *, begun_at: dt.datetime, now: dt.datetime) -> Next:
    if not counts(effect, begun_at):
        return again(effect, times, now)
    if was_seen(effect):
        detail = "it was seen before, and a look shows nothing of it any more"
        return Next(move="stick", fields={"reason": "gone", "detail": detail, "world": "gone"})
    if effect.state == "unknown" and effect.result is None:
        step = proved_absent(effect, times, begun_at=begun_at, now=now)
        return anew(effect, seen, step) if effect.reason == CHANGED and step.move == "resend" else step
    misses = effect.misses + 1
    if misses < times.looks:
        return again(effect, times, now, misses=misses)
    return not_there(effect, seen.reason or f"the provider said yes, and {misses} looks show nothing of it")


def was_seen(effect: Facts) -> bool:
    """Whether a look ever showed what this act made, or what became of it: then a miss doesn't mean "never there"."""
    return (
        effect.kind != UNDOING
        and effect.first_sent_at is not None
        and effect.world in ("present", "differs", "several")
    )


def not_there(effect: Facts, detail: str) -> Next:
    """What was acknowledged is never sent again, however absent it is."""
    reason = "not_undone" if effect.kind == UNDOING else "not_found"
    return Next(move="stick", fields={"reason": reason, "detail": detail, "world": "nothing"})


def final(effect: Facts, begun_at: dt.datetime) -> bool:
    """Whether a miss in a look begun then is the end of it: no request of ours can take effect any more."""
    return effect.late_until is None or begun_at > effect.late_until


def proved_absent(effect: Facts, times: Timings, *, begun_at: dt.datetime, now: dt.datetime) -> Next:
    """The same key may be sent again. The effect ends, or its doubt does, only once the miss is final."""
    if not times.keyed and not times.natural and effect.lost_lease:
        detail = (
            "its worker died in the middle of the call; looks show nothing of it, but this provider knows no key, so "
            "what arrives late and a second send would be two"
        )
        return Next(move="stick", fields={"reason": "cannot_know", "detail": detail, "world": "unknown"})
    if not times.repeats:
        detail = "it may have been taken over, nothing shows it, and it is never handed over a second time"
        return Next(move="stick", fields={"reason": "cannot_know", "detail": detail, "world": "unknown"})
    if effect.reason == LOOKED_AT_AGAIN and final(effect, begun_at):
        detail = "nothing is sent again by itself"
        return Next(move="stick", fields={"reason": "seen_absent", "detail": detail, "world": "nothing"})
    over = effect.reason if effect.reason in LAST_WORDS else ""
    refusal = effect.detail if over else no_more_sends(effect, times, now)
    if refusal and not final(effect, begun_at):
        return again(effect, times, now)
    if over == "key_mismatch" or (not over and refusal == UNPUBLISHED):
        reason = over or "key_expired"
        return Next(move="stick", fields={"reason": reason, "detail": f"not there; {refusal}", "world": "nothing"})
    if refusal:
        last = f"; the last answer: {effect.detail}" if effect.detail and not over else ""
        return spent(effect, over or "limits", f"proved absent; {refusal}{last}")
    due = backoff.after(now, times.first, effect.attempts - 1, times.max, salt=effect.key)
    return Next(move="resend", fields={"due_at": due, "absent": final(effect, begun_at)})


def anew(effect: Facts, seen: Sighting, step: Next) -> Next:
    """A refused condition is named anew only with a version under which a look showed what we made, unchanged."""
    version = seen.evidence.get("version")
    if seen.evidence.get("unchanged") and version is not None:
        if version == seen.evidence.get("written"):
            return spent(effect, "refused", f"{effect.detail}; yet it has the version that was named")
        return dataclasses.replace(step, knows={**step.knows, "before": {OF_THE_IMAGE: version}})
    why = "no look tells under which version" if version is None else "its undoing would write over others' changes too"
    fields = {"reason": CHANGED, "detail": f"{effect.detail}; it still stands, and {why}", "world": "nothing"}
    return Next(move="stick", fields=fields)


def no_more_sends(effect: Facts, times: Timings, now: dt.datetime) -> str:
    """Why the same request may not be sent again, or ""."""
    begun = effect.first_sent_at or now
    if effect.attempts >= times.attempts:
        return f"all {times.attempts} sends are used up"
    if now > begun + dt.timedelta(seconds=times.retry_within):
        return f"the {times.retry_within:g} s for trying again are over"
    return expiry(effect, times, now)


def expiry(effect: Facts, times: Timings, now: dt.datetime) -> str:
    """Why the key of what was sent keeps nothing from happening twice any more, or ""."""
    until = times.key_until(effect.first_sent_at)
    if until is None or now < until:
        return ""
    return f"our key was safe until {until.isoformat(timespec='seconds')}" if times.retention else UNPUBLISHED


def inconclusive(effect: Facts, seen: Sighting, times: Timings, *, begun_at: dt.datetime, now: dt.datetime) -> Next:
    if seen.unmade:
        return Next(move="stick", fields={"reason": "inconclusive", "detail": seen.reason})
    if effect.looks_until is not None and now > effect.looks_until:
        reason = "inconclusive" if seen.reached else "unreachable"
        return Next(move="stick", fields={"reason": reason, "detail": seen.reason})
    if not seen.reached:
        wait = backoff.seconds(times.every, effect.backoffs, backoff.LOOK_CAP, salt=effect.key)
        wait = max(wait, min(seen.retry_after or 0.0, backoff.LOOK_CAP))
        knows = {"backoffs": effect.backoffs + 1, "due": now + dt.timedelta(seconds=wait)}
        return Next(move=NOTE, knows=knows)
    if not counts(effect, begun_at):
        return again(effect, times, now)
    misses = effect.misses + 1
    if misses < times.looks:
        return again(effect, times, now, misses=misses)
    return Next(move="stick", fields={"reason": "inconclusive", "detail": seen.reason})


def again(effect: Facts, times: Timings, now: dt.datetime, *, misses: int | None = None) -> Next:
    """Another look after `every`, but one as soon as a miss is believed, or is final."""
    horizons = [h + A_MOMENT for h in (effect.believe_miss_from, effect.late_until) if h is not None and now < h]
    due = min([now + dt.timedelta(seconds=times.every), *horizons])
    return Next(move=NOTE, knows={"due": due, "misses": effect.misses if misses is None else misses})


def without_look(effect: Facts, times: Timings, now: dt.datetime) -> Next:
    """Unknown, and no look is declared: the same key again while the provider remembers it, else a person."""
    if effect.read_only and effect.attempts < times.attempts:
        return Next(move="resend", fields={"due_at": now, "absent": True})
    if effect.read_only:
        return spent(effect, "limits", f"all {times.attempts} tries ended without an answer")
    if not times.blind:
        why = "the provider keeps our key only after a yes" if times.keyed else "the provider knows no key"
        detail = f"no look is declared, and {why}: nobody can know what the send did"
        return Next(move="stick", fields={"reason": "cannot_know", "detail": detail, "world": "unknown"})
    over = effect.detail if effect.reason in LAST_WORDS else ""
    if refusal := over or no_more_sends(effect, times, now):
        expired = not over and expiry(effect, times, now)
        fields = {"reason": "key_expired" if expired else "cannot_know", "detail": refusal, "world": "unknown"}
        return Next(move="stick", fields=fields)
    due = backoff.after(now, times.first, max(effect.attempts - 1, 0), times.max, salt=effect.key)
    return Next(move="resend", fields={"due_at": due, "absent": False})


def asked_first(effect: Facts, seen: Sighting, times: Timings, *, begun_at: dt.datetime, now: dt.datetime) -> Next:
    """A natural key's world is asked before the send (or after a late answer, or while an earlier send may still take
    effect and no other follows): ours is adopted, another's is not."""
    match seen.verdict:
        case Verdict.FOUND:
            met = times.adopt == "equal" and effect.first_sent_at is None
            return Next(move="adopt", fields={"result": dict(seen.result), "at": now, "met": met})
        case Verdict.ABSENT if effect.doubt and not final(effect, begun_at):
            return again(effect, times, now)
        case Verdict.ABSENT if effect.result is not None:
            return not_there(effect, "a late yes came, and a look shows nothing of it")
        case Verdict.ABSENT if effect.attempts and (over := expiry(effect, times, now)):
            return Next(
                move="stick", fields={"reason": "key_expired", "detail": f"not there; {over}", "world": "nothing"}
            )
        case Verdict.ABSENT:
            knows = {"asked": True, "doubt": False, "world": "nothing"}
            return Next(move="release", fields={"due_at": now}, knows=knows)
        case Verdict.DIFFERS | Verdict.SEVERAL:
            word = seen.verdict.value
            fields = {"reason": word if effect.doubt else "already_there", "detail": seen.reason, "world": word}
            return Next(move="stick", fields=fields)
        case Verdict.INCONCLUSIVE:
            until = effect.looks_until or now + dt.timedelta(seconds=times.within)
            if now > until or seen.unmade:
                fields = {"reason": "inconclusive" if seen.reached else "unreachable", "detail": seen.reason}
                return Next(move="stick", fields=fields)
            wait = backoff.seconds(times.every, effect.backoffs, backoff.LOOK_CAP, salt=effect.key)
            due = now + dt.timedelta(seconds=wait)
            return Next(move=NOTE, knows={"due": due, "looks_until": until, "backoffs": effect.backoffs + 1})

"""Decides what a look means that comes once more: days after an undoing was seen, or because a message from outside
spoke of what is settled or at rest. Pure; `engine.look` applies it.

Only what proves the contrary of what is believed moves anything. Then a person is needed, once: what is stuck is looked
at again by nobody else.
"""

from __future__ import annotations

import datetime as dt

from workflows.outcomes import Sighting, Verdict
from workflows.policies import backoff
from workflows.policies.after_look import REVERSED, once_more, several
from workflows.policies.next import NOTE, Facts, Next
from workflows.tools.timings import Timings

UNCLEAR_AT_MOST = 12  # looks without a clear answer at what was settled already: about two days
RECHECK_CAP = 6 * 3600.0  # seconds between them


def looked_once_more(effect: Facts, seen: Sighting, times: Timings, *, now: dt.datetime) -> Next:
    """Days after an undoing was seen: whether it is so still. What is there again needs a person, once."""
    at = effect.verified_at or now
    match seen.verdict:
        case Verdict.FOUND:
            return Next(move=NOTE, knows={"due_at": once_more(times, at, now), "misses": 0, "backoffs": 0})
        case Verdict.ABSENT if effect.misses + 1 < times.looks:
            again_at = now + dt.timedelta(seconds=times.every)
            return Next(move=NOTE, knows={"due_at": again_at, "misses": effect.misses + 1})
        case Verdict.INCONCLUSIVE:
            return unclear(effect, seen, now)
        case Verdict.ABSENT | Verdict.DIFFERS | Verdict.SEVERAL:
            detail = f"its undoing was seen on {at.isoformat(timespec='seconds')}; by now it is there again"
            return Next(move="stick", fields={"reason": REVERSED, "detail": detail, "world": "nothing"})


def looked_at_rest(effect: Facts, seen: Sighting, times: Timings, *, now: dt.datetime) -> Next:
    """A message spoke of an act that is settled or at rest: whether it still stands, or is still away. What is at rest
    leaves it by evidence only, and a look that stays unclear is none."""
    if seen.verdict is Verdict.INCONCLUSIVE:
        step = unclear(effect, seen, now)
        return step if effect.state == "verified" or step.move == NOTE else as_believed()
    return no_longer_there(effect, seen, times, now) if effect.state == "verified" else there_after_all(effect, seen)


def no_longer_there(effect: Facts, seen: Sighting, times: Timings, now: dt.datetime) -> Next:
    """What was changed since by somebody else is no reversal: it was as asked when it was looked at."""
    if seen.verdict is Verdict.SEVERAL:
        return several(seen.reason)
    if seen.verdict is not Verdict.ABSENT and not seen.gone:
        return as_believed()
    if not seen.gone and effect.misses + 1 < times.looks:
        again_at = now + dt.timedelta(seconds=times.every)
        return Next(move=NOTE, knows={"due_at": again_at, "misses": effect.misses + 1})
    at = effect.verified_at or now
    detail = (
        f"it was seen on {at.isoformat(timespec='seconds')}; a message made us look, and nothing of it is there now"
    )
    return Next(move="stick", fields={"reason": "gone", "detail": detail, "world": "gone"}, knows={"misses": 0})


def there_after_all(effect: Facts, seen: Sighting) -> Next:
    """What two people left standing may stand, and what is there beside an undoing may be what was there before."""
    if seen.gone or seen.verdict is Verdict.ABSENT or (effect.state == "written_off" and effect.world != "nothing"):
        return as_believed()
    if effect.state == "undone":
        detail = "a message made us look after it was undone, and it is there again"
        found = Next(move="stick", fields={"reason": REVERSED, "detail": detail, "world": "present"})
        return found if seen.verdict is Verdict.FOUND else as_believed()
    if seen.verdict is Verdict.SEVERAL:
        return several(seen.reason)
    detail = "a message made us look, and it is there although it was believed that nothing happened"
    result = {**(effect.result or {}), **seen.result}
    fields = {"reason": "late_answer", "detail": detail, "world": "unknown"}
    return Next(move="stick", fields=fields, knows={"result": result or None})


def as_believed() -> Next:
    return Next(move=NOTE, knows={"due_at": None, "misses": 0, "backoffs": 0})


def unclear(effect: Facts, seen: Sighting, now: dt.datetime) -> Next:
    """Asked again, ever more rarely; what stays unclear for days is a person's."""
    if effect.backoffs < UNCLEAR_AT_MOST and not seen.unmade:
        wait = backoff.seconds(backoff.LOOK_CAP, effect.backoffs, RECHECK_CAP, salt=effect.key)
        return Next(move=NOTE, knows={"due_at": now + dt.timedelta(seconds=wait), "backoffs": effect.backoffs + 1})
    reason = "inconclusive" if seen.reached else "unreachable"
    return Next(move="stick", fields={"reason": reason, "detail": seen.reason})

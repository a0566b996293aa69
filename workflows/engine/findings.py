"""What a person knows of a stuck effect, and what follows: a finding, another try, a step that is passed over."""

from __future__ import annotations

import datetime as dt
import uuid
from typing import Any

from django.db import transaction

from workflows import rows
from workflows.engine.parts import promises
from workflows.engine.parts.stuck import repaired, saved, stuck
from workflows.errors import Flaw, Invalid
from workflows.models import Attempt, Effect, Run
from workflows.outcomes import NAMES
from workflows.policies import again
from workflows.states import Phase, World
from workflows.toolbox import times_of

SKIPPED = "skipped"
MOST_NAMED = 5  # of what a form brought too much


def found(effect_id: uuid.UUID, *, by: str, why: str, result: dict[str, Any] | None = None) -> Effect:
    """It is outside, ours and as asked (an undoing: what it undoes is gone). `result`: what later steps need of it, and
    what undoing it needs. Raises `Invalid`, `NotFound`."""
    with transaction.atomic():
        effect = stuck(effect_id, "recorded as found")
        fields = needed(effect) or set(NAMES)  # what is told of a tool that declares nothing is at most its name
        if strange := sorted((result or {}).keys() - fields):
            raise Invalid(
                "the tool never tells that of what it did; later steps would take it for an answer",
                [
                    Flaw("result", name[:80], f"must be of: {', '.join(sorted(fields))}")
                    for name in strange[:MOST_NAMED]
                ],
            )
        known = {**(effect.result or {}), **(result or {})}
        if effect.forward and (missing := sorted(needed(effect) - known.keys())):
            raise Invalid(
                "say what the provider calls it: other steps, or its undoing, need that",
                [Flaw(f"result.{name}", None, "is needed") for name in missing],
            )
        now = rows.now()
        repaired(effect, now, by)
        effect.find(result=known, at=now)
        return saved(effect, now, by, why)


def absent(effect_id: uuid.UUID, *, by: str, why: str) -> Effect:
    """Nothing of it is outside: it is laid to rest, and a forward effect's step has failed. Raises `Invalid`,
    `NotFound`."""
    with transaction.atomic():
        effect = stuck(effect_id, "recorded as absent")
        if effect.compensates_id:
            raise Invalid("this is an undoing: what it should undo still stands; have it tried again, or write it off")
        now = rows.now()
        repaired(effect, now, by)
        effect.clear(detail=why)
        return saved(effect, now, by, why)


def try_again(effect_id: uuid.UUID, *, by: str, why: str) -> Effect:
    """The same request goes out once more under the same key, after policy and stops as ever. Raises `Invalid` where a
    second send could do it twice, `NotFound`."""
    with transaction.atomic():
        effect = stuck(effect_id, "tried again")
        now = rows.now()
        acknowledged = Attempt.objects.filter(effect_id=effect.id, outcome="acknowledged").exists()
        no = again.why_not(
            world=effect.world,
            reason=effect.reason,
            acknowledged=acknowledged,
            protected=_protected(effect, now),
            undoing=effect.compensates_id is not None,
        )
        if no:
            raise Invalid(no)
        effect.try_again(due_at=now)
        return saved(effect, now, by, why)


def skip(effect_id: uuid.UUID, *, by: str, why: str) -> Effect:
    """The run goes on without this step: nothing of ours is outside or will be. Raises `Invalid`, `NotFound`."""
    with transaction.atomic():
        effect = stuck(effect_id, "passed over")
        if not effect.forward or not (effect.world == World.NOTHING or effect.first_sent_at is None):
            raise Invalid("only what left nothing outside can be passed over; look, or record what you found, first")
        if Run.objects.get(id=effect.run_id).phase not in (Phase.OPEN, Phase.RUNNING):
            raise Invalid("the run turns back; there is nothing to go on to")
        now = rows.now()
        repaired(effect, now, by)
        effect.clear(reason=SKIPPED, detail=why)
        return saved(effect, now, by, why)


def _protected(effect: Effect, now: dt.datetime) -> bool:
    promises.refresh()  # whoever acts in the console looks at no demotions otherwise
    times = times_of(effect)
    until = times.key_until(effect.first_sent_at)
    return times.blind and (times.retention is None or (until is not None and now < until))


def needed(effect: Effect) -> set[str]:
    """The fields that a look or an answer of this tool gives: others may speak of them."""
    spec = effect.tool.spec
    return set((spec.get("execute") or {}).get("result") or {}) | set((spec.get("verify") or {}).get("result") or {})

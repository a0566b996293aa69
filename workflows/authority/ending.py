"""Ends an effect that may not be sent: by policy, by a person's no, or with its tool's version. In memory."""

from __future__ import annotations

from workflows.models import Effect
from workflows.states import World


def end(effect: Effect, *, reason: str, detail: str) -> None:
    """A forward effect of which nothing was done is cancelled, and its step fails. Anything else needs a person: an
    undoing that isn't done leaves what it should undo, and after an unknown send nobody knows what is there."""
    if effect.forward and not effect.doubt and effect.world == World.NOTHING:
        effect.cancel(reason=reason, detail=detail)
        return
    if effect.doubt:
        detail = f"{detail}; what an earlier send did is not known"
    effect.stick(reason=reason, detail=detail)

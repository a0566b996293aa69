"""Has the world asked before anything is sent for an effect, whatever else it waits for. For heed and restored."""

from __future__ import annotations

import datetime as dt

from workflows.models import Effect
from workflows.states import EffectState


def look_first(effect: Effect, why: str, now: dt.datetime) -> None:
    """Of what is ready or blocked. Once the look found nothing it will wait again for what it waited for."""
    if effect.state == EffectState.READY:
        effect.block(reason="dependency", blocked_by=[{"look": why}], due_at=now)
        return
    effect.reason, effect.blocked_by, effect.due_at = "dependency", [{"look": why}], now
    effect.note()

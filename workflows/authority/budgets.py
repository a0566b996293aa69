"""Budgets: reserved at dispatch, settled with the answer. No budget can be set yet, so all goes on."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from workflows.models import Effect
from workflows.outcomes import Outcome


def reserve(effects: Sequence[Effect], now: dt.datetime, stopped: list[Effect]) -> list[Effect]:
    """Those for which there is enough; the others are blocked as `budget` and let their scopes go."""
    return list(effects)


def settle(answered: Sequence[tuple[Effect, Outcome]], now: dt.datetime) -> None:
    """Takes for good what was reserved for a send that happened, and gives back what wasn't used."""

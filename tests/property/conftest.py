"""A stage whose clock can be stepped, for schedules."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clock import Clock, clock
from tests.property.stage import Stage

__all__ = ["clock", "stage"]


@pytest.fixture
def stage(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    made = Stage(clock, monkeypatch)
    yield made
    made.close()

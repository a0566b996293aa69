"""How a soak goes on: what was killed, and the memory of the worker that never is."""

from __future__ import annotations

import dataclasses
import statistics
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.soak.runs import Runs


@dataclasses.dataclass(slots=True)
class Course:
    """How it went. `memory`: of the worker that is never killed, in kilobytes, over time."""

    kills: int = 0
    ended: bool = True
    memory: list[int] = dataclasses.field(default_factory=list)
    began: float = dataclasses.field(default_factory=time.monotonic)
    _said: float = 0.0

    def tell(self, runs: Runs) -> None:
        if time.monotonic() - self._said > 10.0:
            self._said = time.monotonic()
            print(f"{runs.over()} of {runs.number} runs, {self.kills} workers killed", file=sys.stderr, flush=True)

    @property
    def growth(self) -> float:
        third = max(len(self.memory) // 3, 1)
        first, last = self.memory[third // 2 : third + third // 2 + 1], self.memory[-third:]
        return statistics.median(last) / max(statistics.median(first), 1) if first else 1.0

"""The tool that is measured: it does nothing and says yes, so that all time spent is the engine's."""

from __future__ import annotations

import time

from workflows.outcomes import Acknowledged, Outcome, Sighting, Verdict
from workflows.tools.base import Tool
from workflows.tools.call import Call


class NoOp(Tool):
    reads_steps = False

    def send(self, call: Call) -> Outcome:
        return Acknowledged(result={"id": call.key, "called_at": time.time()})

    def look(self, call: Call) -> Sighting:
        return Sighting(verdict=Verdict.FOUND)

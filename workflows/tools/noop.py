"""A tool that does nothing, in process: what the benchmark measures with, and the shortest example of a Python tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workflows.outcomes import Acknowledged, Outcome, Sighting, Verdict
from workflows.tools.base import Tool

if TYPE_CHECKING:
    from workflows.tools.call import Call


class Noop(Tool):
    """Says yes to everything and finds it again; `result` is `{"id": key}`."""

    def send(self, call: Call) -> Outcome:
        return Acknowledged(result={"id": call.key})

    def look(self, call: Call) -> Sighting:
        return Sighting(verdict=Verdict.FOUND, result={"id": call.key})

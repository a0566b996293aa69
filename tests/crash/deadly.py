"""Tools that end the worker which uses them, as a library that crashes would."""

from __future__ import annotations

import os
from typing import Any

from tests.engine.simulated import SimTool
from workflows.outcomes import Acknowledged, Outcome, Sighting, Verdict
from workflows.tools.call import Call


class DeadlySend(SimTool):
    def send(self, call: Call) -> Outcome:
        os._exit(1)

    def look(self, call: Call) -> Sighting:
        return Sighting(verdict=Verdict.ABSENT)


class DeadlyLook(SimTool):
    def send(self, call: Call) -> Outcome:
        return Acknowledged(result={"id": call.key})

    def look(self, call: Call) -> Sighting:
        os._exit(1)


class Bottomless(SimTool):
    """Its answer can be read only by going deeper than Python goes."""

    def send(self, call: Call) -> Outcome:
        def read(depth: int) -> Any:
            return read(depth + 1)

        return Acknowledged(result=read(0))

    def look(self, call: Call) -> Sighting:
        return Sighting(verdict=Verdict.FOUND, result=self.send(call).result)  # type: ignore[union-attr]


class Lasting(SimTool):
    """It is there whoever looks, in whichever process."""

    def send(self, call: Call) -> Outcome:
        return Acknowledged(result={"id": call.key})

    def look(self, call: Call) -> Sighting:
        return Sighting(verdict=Verdict.FOUND, result={"id": call.key})

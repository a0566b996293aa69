"""The shape of a workflow."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from workflows.tools import defaults
from workflows.tools.manifest.fields import JsonMap, PositiveDuration, StepName, Strict, Text, ToolName, Version

MOST_STEPS = 200


class Step(Strict):
    """Without `after` a step follows the one before it; `after: []` starts at once."""

    name: StepName
    tool: ToolName
    after: list[StepName] | None = None
    arguments: JsonMap = {}


class Workflow(Strict):
    version: Version
    owner: Text
    on_failure: Literal["compensate", "forward", "hold"] = "compensate"
    after_irreversible: Literal["hold", "compensate", "forward"] = "hold"
    deadline: PositiveDuration = defaults.WORKFLOW_DEADLINE
    gate: Literal["none", "rehearsal"] = "none"
    input: JsonMap = {"type": "object", "properties": {}, "additionalProperties": False}
    steps: Annotated[list[Step], Field(min_length=1, max_length=MOST_STEPS)]

"""Until when what was done can still be undone by its own tool: dispatch keeps to it, and people must decide before."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt

from workflows import making
from workflows.models import Effect, Run
from workflows.toolbox import tool_of
from workflows.tools import moments


def undoable_until(effect: Effect, run: Run) -> dt.datetime | None:
    """Of an undoing, or of the act that it would undo; None: without end. `effect.compensates` must be loaded.

    Raises `ExpressionError` or `ValueError` where a declared moment can't be told, which is no leave to call."""
    tool, of = tool_of(effect.tool), effect.compensates or effect
    operation = "compensate" if of is effect else effect.operation
    if not tool.has(operation):
        return None
    ends = []
    window = tool.timings(operation).window
    if window is not None and of.first_sent_at is not None:
        with contextlib.suppress(OverflowError):  # longer than there are dates
            ends.append(of.first_sent_at + dt.timedelta(seconds=window))
    call = making.call_for(effect, run, [])
    if of is effect:
        call = dataclasses.replace(call, operation=operation, forward_key=effect.key)
    if (until := tool.window_until(call)) is not None:
        ends.append(moments.moment(until))
    return min(ends, default=None)

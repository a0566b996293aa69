"""The one door to tools: plain values in, values out, whatever breaks behind it. For the verbs call, look and image."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import re
import traceback
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from workflows import making
from workflows.authority import credentials
from workflows.fetch import fetch
from workflows.models import Effect, Step
from workflows.outcomes import Outcome, Sighting, Unknown, Verdict
from workflows.toolbox import tool_of
from workflows.tools.base import Tool
from workflows.tools.call import Call
from workflows.tools.keeping import DEEPEST, keepable

WHILE_LOOKING = 80.0  # seconds: the longest a look may take (its timeout is at most 60) before another tries
A = TypeVar("A", bound=Outcome | Sighting)
TRACEBACK_KEPT = 4000  # characters: enough to find our bug, bounded as all evidence is


def calls_of(effects: Sequence[Effect], now: dt.datetime) -> list[tuple[Tool, Call]]:
    """The plain values of one request for each effect. One statement for all steps, where some tool speaks of them, and
    one for tokens, where some tool carries one."""
    steps: dict[Any, list[Step]] = {}
    readers = {e.run_id for e in effects if tool_of(e.tool).reads_steps}
    for step in fetch(Step, "WHERE t.run_id = ANY (%s) ORDER BY t.ordinal", [list(readers)]) if readers else ():
        steps.setdefault(step.run_id, []).append(step)
    tokens = credentials.tokens_for(effects)
    made = []
    for effect in effects:
        tool = tool_of(effect.tool)
        call = making.call_for(effect, effect.run, steps.get(effect.run_id, []), now=now)
        if needs := tokens and tool.needs(effect.operation).all:
            call = dataclasses.replace(call, tokens={name: tokens[name] for name in needs if name in tokens})
        made.append((tool, call))
    return made


def guarded(act: Callable[[], Outcome]) -> Outcome:
    """An exception out of a tool is our bug; nobody knows what was sent before it. So is an answer that isn't JSON."""
    try:
        return _kept(act())
    except Exception:
        return Unknown(reason="our tool broke in the middle of the call", evidence=_broken())


def guarded_all(act: Callable[[], list[Outcome]], many: int) -> list[Outcome]:
    """The same for one request that carries many acts."""
    try:
        told = [_kept(outcome) for outcome in act()]
        if len(told) != many:
            raise ValueError(f"{len(told)} outcomes of {many} acts")
    except Exception:
        return [Unknown(reason="our tool broke in the middle of the call", evidence=_broken())] * many
    return told


def _kept(answer: A) -> A:
    """The answer as the database can hold it: what it did is done, and must be written whatever characters it came in.

    Raises `ValueError` for what is no number in JSON; it would be written as null, which is another answer."""
    said = {name: value for name in SAID if (value := getattr(answer, name, None))}
    text = _strict(said)
    if not UNHELD.search(text) and text.count("{") + text.count("[") <= DEEPEST:
        return answer
    return dataclasses.replace(answer, **{name: keepable(value) for name, value in said.items()})


SAID = ("reason", "code", "result", "evidence", "poll")
UNHELD = re.compile(r"\\u(?:0000|d[89a-f])")  # NUL and halves of surrogate pairs, as JSON in ASCII writes them


def _broken() -> dict[str, Any]:
    text = traceback.format_exc()
    cut = f"(cut) …{text[-TRACEBACK_KEPT:]}" if len(text) > TRACEBACK_KEPT else text  # its end names the bug
    return {"traceback": keepable(cut)}


_strict = json.JSONEncoder(allow_nan=False, default=str).encode


def seen(act: Callable[[], Sighting]) -> Sighting:
    try:
        return _kept(act())
    except Exception:
        return Sighting(verdict=Verdict.INCONCLUSIVE, reason="our tool broke while it looked", evidence=_broken())

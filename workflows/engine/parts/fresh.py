"""Reads again what a write was based on, right before it is sent: what was changed since is no base any more.

A read is recorded where its tool tells a `version` and the write's step comes right after it. For image only.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import uuid
from collections.abc import Sequence
from typing import Any

from workflows.engine.parts.door import calls_of, guarded
from workflows.engine.parts.joined import join_runs, join_tools
from workflows.fetch import fetch
from workflows.models import Effect, Step
from workflows.outcomes import Acknowledged, NotSent, Outcome, Refused
from workflows.rows import ids
from workflows.tools.base import Tool
from workflows.tools.call import Call
from workflows.tools.versions import compared

Reads = list[tuple[str, Any, Tool, Call]]  # the read's step, its version then, and how to read it again


def recorded(step: Step, steps: Sequence[Step], effects: Sequence[Effect]) -> list[dict[str, Any]] | None:
    """What the arguments of a step's effect were read from, with the versions that were read."""
    befores = {s.id: s for s in steps if s.name in step.after and _tells_version(s)}
    found = [
        {"step": befores[e.step_id].name, "effect": str(e.id), "version": (e.result or {})["version"]}
        for e in effects
        if e.step_id in befores and e.forward and (e.result or {}).get("version") is not None
    ]
    return found or None


def _tells_version(step: Step) -> bool:
    spec = step.tool.spec
    return bool(spec["profile"]["effect_class"] == "read_only" and "version" in spec["execute"])


def wanted(effect: Effect) -> bool:
    """Before each send, while none of its own may have changed anything."""
    return bool(effect.reads) and not effect.doubt and not effect.read_only


def reads_of(effects: Sequence[Effect], now: dt.datetime) -> dict[uuid.UUID, Reads]:
    """A constant number of statements, none where nothing was recorded."""
    wanting = [e for e in effects if wanted(e)]
    if not wanting:
        return {}
    based = [uuid.UUID(read["effect"]) for e in wanting for read in e.reads]
    reads = fetch(Effect, "WHERE t.id = ANY (%s::uuid[]) ORDER BY t.id", [ids(set(based))])
    join_runs(reads)
    join_tools(reads)
    calls = dict(zip([str(read.id) for read in reads], calls_of(reads, now), strict=True))
    return {e.id: [(r["step"], r["version"], *calls[r["effect"]]) for r in e.reads] for e in wanting}


def stale(reads: Reads) -> Outcome | None:
    """None where all is as it was. Called in threads."""
    for step, version, tool, call in reads:
        answer = guarded(lambda tool=tool, call=call: tool.send(call))  # type: ignore[misc]
        if not isinstance(answer, Acknowledged):
            reason = f"what step {step} read could not be read again: {getattr(answer, 'reason', 'it goes on')}"
            if isinstance(answer, Refused) and answer.rejected:
                rejected = dataclasses.replace(answer.rejected, tool=tool.name)
                return Refused(reason=reason, temporary=True, rejected=rejected, evidence=answer.evidence)
            return NotSent(reason=reason, ours=True, evidence=answer.evidence)
        present = answer.result.get("version")
        order = compared(present, version)
        if order is not None and order < 0:
            reason = f"what step {step} read is shown older than it was then ({present}, not {version})"
            return NotSent(reason=reason, ours=True, evidence=answer.evidence)
        if present != version and order != 0:
            reason = f"what step {step} read was changed since: version {version} then, {present} now"
            return Refused(reason=reason, code="stale_read", evidence=answer.evidence)
    return None

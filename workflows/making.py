"""Makes effects in memory, with all that is fixed for ever: arguments, key, digest, scopes. For `advance`."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from django.conf import settings

from workflows import origins
from workflows.errors import Invalid
from workflows.fetch import give, new
from workflows.models import Effect, Run, Step, Tool
from workflows.models.agent import Right, rights_of
from workflows.models.effect_facts import EVERYTHING
from workflows.outcomes import CHANGED, OF_THE_IMAGE
from workflows.states import Kind
from workflows.toolbox import pins_of, tool_of
from workflows.tools.call import Call

KEY_LENGTH = 26
KEY_BYTES = 20  # of the HMAC: what 26 characters need, in whole groups of five bytes
NEEDS_RESULT = re.compile(r"\$\{[^}]*\bresult\b")


def names_of(run: Run, steps: Iterable[Step]) -> dict[str, Any]:
    """The names that a step's arguments may speak of."""
    return {
        "input": run.input,
        "run": run_facts(run),
        "subject": subject_facts(run),
        "steps": results_of(steps),
    }


def run_facts(run: Run) -> dict[str, Any]:
    return {"id": str(run.id), "external_id": run.external_id, "workflow": run.workflow.name}


def subject_facts(run: Run) -> dict[str, Any]:
    return {"type": run.subject_type, "id": run.subject_id, "label": run.subject_label}


def results_of(steps: Iterable[Step]) -> dict[str, dict[str, Any]]:
    return {step.name: {"result": step.result} for step in steps if step.result is not None}


def call_for(effect: Effect, run: Run, steps: Iterable[Step], *, now: dt.datetime | None = None) -> Call:
    """The plain values of one request for this effect. `effect.compensates` must be loaded where there is one."""
    forward = effect.compensates
    image = (forward.before if forward else effect.before) or {}
    result = (forward.result if forward else effect.result) or {}
    if forward and (seen := (effect.before or {}).get(OF_THE_IMAGE)) is not None:
        result = {**result, "version": seen}  # a look showed what it undoes as it was made, under this version
    return Call(
        operation=effect.operation,
        key=effect.key,
        arguments=effect.arguments,
        run=run_facts(run),
        subject=subject_facts(run),
        input=run.input,
        steps=results_of(steps),
        result=result,
        before={name: value for name, value in image.items() if name != OF_THE_IMAGE},
        base=None if forward else image.get(OF_THE_IMAGE),
        forward_key=forward.key if forward else "",
        contested=bool(forward) and effect.reason == CHANGED,
        agreed=(effect.before or {}).get("agreed") if forward else None,
        attempt=max(effect.attempts, 1),
        now=now.isoformat() if now else "",
        sent_at=sent_at.isoformat() if (sent_at := effect.first_sent_at or now) else "",
    )


def forward(run: Run, step: Step, steps: Sequence[Step], now: dt.datetime, *, generation: int = 0) -> Effect:
    """The effect of a step whose arguments are known; `generation`: how often it was begun before. Raises
    `ExpressionError` where a scope or text can't be made."""
    tool = tool_of(step.tool)
    assert step.arguments is not None
    times = tool.timings("execute")
    effect = _effect(run, step, Kind.FORWARD, step.arguments, now, generation=generation)
    effect.verifiable = not effect.read_only and times.verifies and may_look(effect)
    call = call_for(effect, run, steps, now=now)
    effect.scopes = tool.scopes(call)
    effect.residue = tool.residue(call, "execute")
    effect.value = tool.value(call)
    origins.say(effect, run, step, steps, call)
    return effect


def remedy(run: Run, step: Step, steps: Sequence[Step], of: Effect | None, now: dt.datetime) -> Effect:
    """A new act by which a person makes good, in the run of `of`. Looked at whatever the agent was granted: it isn't
    the agent's. Raises `ExpressionError`."""
    tool = tool_of(step.tool)
    assert step.arguments is not None
    effect = _effect(run, step, Kind.REMEDY, step.arguments, now)
    effect.makes_good_id = of.id if of else None
    effect.granted = EVERYTHING
    effect.verifiable = tool.timings("execute").verifies
    call = call_for(effect, run, steps, now=now)
    effect.scopes, effect.value = tool.scopes(call), tool.value(call)
    effect.residue = tool.residue(call, "execute")
    origins.say(effect, run, step, steps, call)
    return effect


def compensation(
    of: Effect, run: Run, step: Step, steps: Iterable[Step], now: dt.datetime, *, generation: int = 0
) -> Effect:
    """The new business operation that undoes `of`: own key, the same scopes, inputs as they were kept."""
    tool = tool_of(step.tool)
    times = tool.timings("compensate")
    effect = bare_compensation(of, run, step, now, generation=generation)
    effect.verifiable = times.verifies and may_look(effect)
    effect.residue = tool.residue(call_for(effect, run, steps, now=now), "compensate")
    return effect


def bare_compensation(of: Effect, run: Run, step: Step, now: dt.datetime, *, generation: int = 0) -> Effect:
    """The same without what expressions tell; it stands for an undoing that can't be made."""
    effect = _effect(run, step, Kind.COMPENSATION, of.arguments, now, generation=generation)
    effect.compensates = of
    effect.granted = of.granted
    effect.scopes, effect.value = of.scopes, of.value
    origins.as_of(effect, of)
    return effect


def fallback(
    of: Effect, refused: Effect, tool: Tool, run: Run, step: Step, steps: Iterable[Step], now: dt.datetime
) -> Effect:
    """What is tried when the undoing was refused for good: another tool's act, with those of the forward effect's
    arguments and results that it takes. Raises `Invalid` where they don't fit, `ExpressionError`."""
    built = tool_of(tool)
    takes = tool.spec["arguments"].get("properties", {})
    arguments = {name: v for name, v in {**of.arguments, **(of.result or {})}.items() if name in takes}
    if flaws := built.check(arguments):
        raise Invalid(f"what is known doesn't fit {tool}", flaws)
    effect = _effect(run, step, Kind.COMPENSATION, arguments, now, tool=tool, generation=refused.generation + 1)
    effect.compensates = of
    effect.granted = of.granted
    effect.scopes, effect.value = of.scopes, of.value
    origins.as_of(effect, of)
    effect.verifiable = not effect.read_only and built.timings("execute").verifies and may_look(effect)
    effect.residue = built.residue(call_for(effect, run, steps, now=now), "execute")
    return effect


def may_look(effect: Effect) -> bool:
    """Whether the agent was granted that what it did is looked at in its name."""
    return Right.VERIFY in effect.granted.split()


def lacks_result(of: Effect, step: Step) -> bool:
    """Whether the undoing speaks of a result that nobody ever saw."""
    request = {k: v for k, v in step.tool.spec.get("compensate", {}).items() if k not in ("verify", "residue")}
    return not of.result and bool(NEEDS_RESULT.search(json.dumps(request)))


def _effect(
    run: Run,
    step: Step,
    kind: Kind,
    arguments: dict[str, Any],
    now: dt.datetime,
    *,
    tool: Tool | None = None,
    generation: int = 0,
) -> Effect:
    tool = tool or step.tool
    profile = tool.profile
    profile_digest, implementation = pins_of(tool)
    effect = new(
        Effect,
        run_id=run.id,
        step_id=step.id,
        agent_id=run.agent_id,
        tool_id=tool.id,
        kind=kind.value,
        generation=generation,
        ordinal=step.ordinal,
        epoch=run.epoch,
        arguments=arguments,
        key=key_of(run, step, kind, generation),
        digest=digest_of(tool, kind, arguments),
        on_behalf_of=run.on_behalf_of,
        granted=" ".join(rights_of(run.narrowed, tool.name)),
        effect_class=profile["effect_class"],
        owner=profile["owner"],
        customer_visible=profile["customer_visible"],
        profile_digest=profile_digest,
        implementation=implementation,
        verifiable=False,
        due_at=now,
        created_at=now,
        changed_at=now,
    )
    give(effect, "run", run)
    give(effect, "step", step)
    give(effect, "tool", tool)
    effect.was_state = effect.state
    return effect


def key_of(run: Run, step: Step, kind: Kind, generation: int = 0) -> str:
    """26 characters of lower-case base32hex: the same after a restore that lost the row."""
    parts = [str(run.agent_id), run.idempotency_key, step.name, kind.value, str(generation)]
    mac = hmac.digest(str(settings.INSTALL_SECRET).encode(), json.dumps(parts).encode(), "sha256")
    return base64.b32hexencode(mac[:KEY_BYTES]).decode().lower()[:KEY_LENGTH]


def digest_of(tool: Tool, kind: Kind, arguments: dict[str, Any]) -> str:
    """sha256 over what is asked, not over the bytes in which it travels."""
    return canonical_digest({"tool": tool.name, "version": tool.version, "kind": kind.value, "arguments": arguments})


def canonical_digest(value: Any) -> str:
    """sha256 in hex over the value's JSON with sorted names and no spaces."""
    return hashlib.sha256(_canonical(value).encode()).hexdigest()


_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode

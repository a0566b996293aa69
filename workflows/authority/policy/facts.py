"""What a policy may ask about one act: names, how they are gathered, and the plain case that examples differ from."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Mapping
from typing import Any

from workflows.authority import grants
from workflows.models import Agent, Effect, Run, Tool
from workflows.states import Kind, Phase
from workflows.tools.manifest.fields import Profile

# Each name with its fields; None where anybody may have put in more.
NAMES: dict[str, frozenset[str] | None] = {
    "act": frozenset({"kind", "operation", "attempt"}),
    "agent": frozenset({"name", "team", "on_behalf_of", "active", "granted", "rights", "tools"}),
    "arguments": None,
    "budgets": None,
    "origin": None,
    "profile": frozenset(Profile.model_fields),
    "rehearsal": frozenset({"level"}),
    "run": frozenset({"id", "external_id", "workflow", "version", "open", "age", "targets", "highest_class"}),
    "subject": frozenset({"type", "id", "label"}),
    "targets": None,
    "time": frozenset({"at", "date", "hour", "weekday"}),
    "tool": frozenset({"name", "version", "digest", "kind", "owner", "current"}),
    "value": frozenset({"amount", "currency"}),
}
NO_LEVEL = "none"  # of rehearsal, until there are rehearsals
PLAIN: dict[str, Any] = {
    "act": {"kind": "forward", "operation": "execute", "attempt": 1},
    "agent": {
        "name": "agent", "team": "operations", "on_behalf_of": "", "active": True, "granted": True,
        "rights": ["read", "write", "compensate", "verify"], "tools": ["*"],
    },
    "arguments": {},
    "budgets": {},
    "origin": [],
    "profile": {
        "effect_class": "reversible", "access": "write", "environment": "trusted",
        "observability": "authoritative_read", "autonomy": "auto", "privileges": [], "owner": "desk",
        "customer_visible": False, "residue": "", "function": "unstated", "reliability": "unstated",
        "modality": "unstated",
    },
    "rehearsal": {"level": NO_LEVEL},
    "run": {
        "id": "run", "external_id": "", "workflow": "workflow", "version": 1, "open": False, "age": 0, "targets": 0,
        "highest_class": "reversible",
    },
    "subject": {"type": "customer", "id": "1", "label": ""},
    "targets": [],
    "time": {"at": "2026-01-05T12:00:00+00:00", "date": "2026-01-05", "hour": 12, "weekday": 1},
    "tool": {"name": "tool", "version": 1, "digest": "", "kind": "http", "owner": "desk", "current": True},
    "value": None,
}  # fmt: skip


def of_effect(
    effect: Effect,
    now: dt.datetime,
    *,
    granted: bool,
    current: bool = True,
    budgets: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Facts of an effect that is about to leave; run, agent and tool are loaded. `granted`: its agent may, doing by its
    grant as it is now, undoing by its grant as it was when it was done."""
    run, tool = effect.run, effect.tool
    return {
        **_common(run, tool, effect.arguments, now, current=current),
        "act": {"kind": effect.kind, "operation": effect.operation, "attempt": effect.attempts + 1},
        "agent": _agent(effect.agent, tool, granted=granted, behalf=effect.on_behalf_of, by_person=effect.remedy),
        "run": _run(run, now, targets=effect.reach, highest=effect.chain_class or effect.effect_class),
        "origin": [one["path"] for one in effect.origin],
        "targets": effect.targets,
        "value": effect.value,
        "budgets": budgets or {},
    }


def of_request(agent: Agent, run: Run, tool: Tool, arguments: Mapping[str, Any], now: dt.datetime) -> dict[str, Any]:
    """Facts of a step that is asked for: what only its effect will show (targets, value) isn't known yet."""
    granted = grants.refused(agent, tool.name, tool.profile) is None
    return {
        **_common(run, tool, arguments, now, current=True),
        "act": {"kind": Kind.FORWARD.value, "operation": "execute", "attempt": 1},
        "agent": _agent(agent, tool, granted=granted, behalf=agent.acts_for),
        "run": _run(run, now, targets=0, highest=tool.profile["effect_class"]),
        "origin": [],
        "targets": [],
        "value": None,
    }


def _common(run: Run, tool: Tool, arguments: Mapping[str, Any], now: dt.datetime, *, current: bool) -> dict[str, Any]:
    return {
        "arguments": arguments,
        "budgets": {},
        "profile": tool.spec["profile"],
        "rehearsal": {"level": NO_LEVEL},
        "subject": {"type": run.subject_type, "id": run.subject_id, "label": run.subject_label},
        "time": _time(now),
        "tool": {
            "name": tool.name, "version": tool.version, "digest": tool.digest, "kind": tool.kind, "owner": tool.owner,
            "current": current,
        },
    }  # fmt: skip


def _agent(agent: Agent, tool: Tool, *, granted: bool, behalf: str, by_person: bool = False) -> dict[str, Any]:
    """`by_person`: a remedy; that the agent was switched off since keeps nobody from making good what it did."""
    return {
        "name": agent.name,
        "team": agent.team,
        "on_behalf_of": behalf,
        "active": agent.active or by_person,
        "granted": granted,
        "rights": list(agent.rights(tool.name)),
        "tools": agent.tools,
    }


def _run(run: Run, now: dt.datetime, *, targets: int, highest: str) -> dict[str, Any]:
    """`targets`: how many different ones its effects had until now; `highest_class`: the gravest of its steps."""
    workflow = run.workflow
    return {
        "id": str(run.id),
        "external_id": run.external_id,
        "workflow": workflow.name,
        "version": workflow.version,
        "open": run.phase == Phase.OPEN,
        "age": int((now - run.created_at).total_seconds()),
        "targets": targets,
        "highest_class": highest,
    }


@functools.lru_cache(maxsize=8)  # the same for all of a set
def _time(now: dt.datetime) -> dict[str, Any]:
    at = now.astimezone(dt.UTC)
    return {"at": at.isoformat(), "date": at.date().isoformat(), "hour": at.hour, "weekday": at.isoweekday()}


def kept(facts: Mapping[str, Any]) -> dict[str, Any]:
    """What a decision keeps of them: the rest stands unchangeable in the effect and in the version of its tool."""
    tool = facts["tool"]
    told = {name: facts[name] for name in ("act", "agent", "run", "rehearsal")}
    more = {name: facts[name] for name in ("origin", "targets", "budgets") if facts[name]}
    return {**told, **more, "at": facts["time"]["at"], "tool": tool["name"], "version": tool["version"],
            "current": tool["current"]}  # fmt: skip


def recalled(inputs: Mapping[str, Any], effect: Effect) -> dict[str, Any]:
    """The facts of a past decision, from what it kept and what never changes. Raises `KeyError` for older ones."""
    at = dt.datetime.fromisoformat(inputs["at"])
    common = _common(effect.run, effect.tool, effect.arguments, at, current=inputs["current"])
    return {**common, **_told(inputs), "value": effect.value}


def recalled_request(inputs: Mapping[str, Any], run: Run, tool: Tool) -> dict[str, Any]:
    """The same for what was denied when it was asked for, which has no effect."""
    at = dt.datetime.fromisoformat(inputs["at"])
    common = _common(run, tool, inputs["arguments"], at, current=inputs["current"])
    return {**common, **_told(inputs), "value": None}


def _told(inputs: Mapping[str, Any]) -> dict[str, Any]:
    told = {name: inputs[name] for name in ("act", "agent", "run", "rehearsal")}
    return {**told, **{name: inputs.get(name, PLAIN[name]) for name in ("origin", "targets", "budgets")}}


def example(differs: Mapping[str, Any]) -> dict[str, Any]:
    """The plain case with what an example says instead: fields of a name one by one, all else whole."""
    found = dict(PLAIN)
    for name, value in differs.items():
        plain = PLAIN.get(name)
        by_field = NAMES.get(name) is not None and isinstance(value, dict)
        found[name] = {**plain, **value} if by_field and isinstance(plain, dict) else value
    return found

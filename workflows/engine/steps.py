"""Adds a step that the agent names itself to an open run. The name decides: the same content again is the same step."""

from __future__ import annotations

import dataclasses
import uuid
from typing import Any

from django.db import transaction

from workflows import ledger, rows
from workflows.authority import grants, policy, versions
from workflows.engine.parts import denial
from workflows.engine.parts.locked import locked_run, own_run
from workflows.engine.parts.room import room_or_refuse
from workflows.errors import Denied, Flaw, Invalid, NameTaken, RunOver, Sealed
from workflows.models import Agent, Run, Step, Tool
from workflows.models.fields import new_id
from workflows.states import Phase, StepState
from workflows.toolbox import tool_of

MAX_STEPS = 1000  # of one run: it is locked and read whole whenever it moves


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StepBody:
    """What `POST runs/{id}/steps` says. `after`: names; None means the step before. `digest`: over the body, in hex."""

    name: str
    tool: str
    arguments: dict[str, Any]
    digest: str
    after: list[str] | None = None


def add_step(agent: Agent, run_id: uuid.UUID, body: StepBody) -> tuple[Step, bool]:
    """(the step, whether it was made now). Raises `Invalid`, `Denied`, `NameTaken`, `RunOver`, `Sealed`, `NotFound`."""
    tool = _tool(agent, own_run(agent, run_id), body)
    with transaction.atomic():
        run = locked_run(agent, run_id)
        steps = list(Step.objects.filter(run=run).select_related("tool").order_by("ordinal"))
        if (same := next((s for s in steps if s.name == body.name), None)) is not None:
            if same.digest != body.digest:
                raise NameTaken(flaws=[Flaw("name", body.name, "this run has a step of that name with other content")])
            return same, False
        room_or_refuse()
        _open(run, steps)
        step = _step(run, steps, tool, body)
        now = rows.now()
        step.created_at, run.advance_at = now, now
        ledger.create_steps(run, [step], now=now, actor=f"agent:{agent.name}")
        return step, True


def _tool(agent: Agent, run: Run, body: StepBody) -> Tool:
    tool = Tool.objects.filter(name=body.tool, current=True).first()
    if tool is None:
        known = Tool.objects.filter(current=True).order_by("name").values_list("name", flat=True)
        mine = ", ".join(name for name in known if agent.may_use_tool(name)) or "none"
        raise Invalid("unknown tool", [Flaw("tool", body.tool, f"there is no such tool; yours are: {mine}")])
    facts = policy.facts.of_request(agent, run, tool, body.arguments, rows.now())
    verdict = grants.refused(agent, tool.name, tool.profile) or policy.decide(policy.present(), facts)
    if tool.withdrawn_at is not None:
        verdict = versions.withdrawn(tool)
    if verdict.verdict == policy.DENY:
        denial.write(agent, act=f"forward {tool.name}", verdict=verdict, facts=facts)
        raise Denied(verdict.reason)
    if flaws := tool_of(tool).check(body.arguments):
        raise Invalid(f"the arguments do not fit tool {tool}", flaws)
    return tool


def _open(run: Run, steps: list[Step]) -> None:
    if run.phase in (Phase.UNWINDING, Phase.OVER):
        raise RunOver(f"run {run.id} is {run.state}; it takes no more steps")
    if run.sealed:
        raise Sealed(f"run {run.id} is sealed; start another run")
    if len(steps) >= MAX_STEPS:
        raise Invalid("too many steps", [Flaw("name", len(steps), f"a run has at most {MAX_STEPS} steps")])


def _step(run: Run, steps: list[Step], tool: Tool, body: StepBody) -> Step:
    names = {s.name for s in steps}
    after = body.after if body.after is not None else [s.name for s in steps if not s.remedy][-1:]
    if unknown := [name for name in after if name not in names]:
        raise Invalid(
            "unknown step", [Flaw("after", unknown[0], f"steps of this run are: {', '.join(names) or 'none'}")]
        )
    return Step(
        id=new_id(),
        run=run,
        name=body.name,
        ordinal=(steps[-1].ordinal if steps else 0) + 1,
        tool=tool,
        after=after,
        arguments=body.arguments,  # known already: data, in which nothing is ever evaluated
        state=StepState.PENDING.value,
        digest=body.digest,
    )

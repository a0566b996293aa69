"""Starts a run: checks everything, writes run and steps whole or nothing. The same key and body give the same run."""

from __future__ import annotations

import dataclasses
import datetime as dt
from typing import Any

from django.db import IntegrityError, connection, transaction

from workflows import ledger
from workflows.authority import run_budgets
from workflows.engine.parts import denial
from workflows.engine.parts.room import room_or_refuse
from workflows.errors import Denied, Flaw, Invalid, KeyReused
from workflows.making import canonical_digest
from workflows.models import Agent, Run, Step, Tool, Workflow
from workflows.models.fields import new_id
from workflows.states import Phase, RunState
from workflows.tools import schema

ADHOC = "adhoc"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StartBody:
    """What `POST runs` says. `digest`: sha256 over the body's canonical JSON, in hex."""

    subject: dict[str, str]
    digest: str
    workflow: str | None = None
    version: int | None = None
    input: dict[str, Any] = dataclasses.field(default_factory=dict)
    external_id: str = ""
    open: bool = False
    budget: dict[str, Any] | None = None


def start_run(agent: Agent, key: str, body: StartBody) -> tuple[Run, bool]:
    """(the run, whether it was made now). Raises `Invalid`, `Denied`, `KeyReused`, `NoRoom`."""
    if (found := _replayed(agent, key, body)) is not None:
        return found, False
    room_or_refuse()
    workflow = _workflow(agent, body)
    tools = _tools(workflow)
    under = run_budgets.parent(agent, body.budget)
    try:
        with transaction.atomic():
            run = _write(agent, key, body, workflow, tools)
            if body.budget:
                run_budgets.give(run, body.budget, under, run.created_at)
            return run, True
    except IntegrityError:
        # A twin came first; its run is there once its transaction ended, for which the unique key made us wait.
        if (found := _replayed(agent, key, body)) is not None:
            return found, False
        raise


def _replayed(agent: Agent, key: str, body: StartBody) -> Run | None:
    run = Run.objects.filter(agent=agent, idempotency_key=key).select_related("workflow", "agent").first()
    if run is not None and run.on_behalf_of != agent.acts_for:
        message = "began a run on behalf of somebody else; use a new key for a new request"
        raise KeyReused(flaws=[Flaw("Idempotency-Key", key, message)])
    if run is not None and run.body_digest != body.digest:
        flaw = Flaw("Idempotency-Key", key, f"began run {run.id} with another body; use a new key for a new request")
        raise KeyReused(flaws=[flaw])
    if run is not None and not agent.may_use_workflow(run.workflow.name):
        raise _denied(agent, run.workflow.name)  # what was granted then may have been taken since
    return run


def _workflow(agent: Agent, body: StartBody) -> Workflow:
    name = body.workflow or (ADHOC if body.open else "")
    if not name:
        raise Invalid("no workflow", [Flaw("workflow", None, "name a workflow, or set open to true")])
    if not agent.may_use_workflow(name):
        if not Workflow.objects.filter(name=name).exists():
            raise _no_workflow(agent, name)
        raise _denied(agent, name)
    found = Workflow.objects.filter(name=name)
    found = found.filter(current=True) if body.version is None else found.filter(version=body.version)
    workflow = found.first()
    if workflow is None and body.version is not None and Workflow.objects.filter(name=name).exists():
        raise Invalid("no such version", [Flaw("version", body.version, f"workflow {name} has no such version")])
    if workflow is None:
        raise _no_workflow(agent, name)
    if flaws := schema.flaws(workflow.spec["input"], body.input, root="input"):
        raise Invalid(f"the input does not fit workflow {workflow}", flaws)
    return workflow


def _denied(agent: Agent, name: str) -> Denied:
    reason = f"workflow {name} is not among those of agent {agent.name}"
    denial.write(agent, act=f"start {name}", verdict=denial.not_granted(reason))
    return Denied(reason)


def _no_workflow(agent: Agent, name: str) -> Invalid:
    names = Workflow.objects.filter(current=True).order_by("name").values_list("name", flat=True)
    mine = [n for n in names if agent.may_use_workflow(n)]
    hint = f"there is no such workflow; yours are: {', '.join(mine) or 'none'}"
    return Invalid("unknown workflow", [Flaw("workflow", name, hint)])


def _tools(workflow: Workflow) -> dict[str, Tool]:
    names = {step["tool"] for step in workflow.spec["steps"]}
    return {tool.name: tool for tool in Tool.objects.filter(name__in=names, current=True)}


def _write(agent: Agent, key: str, body: StartBody, workflow: Workflow, tools: dict[str, Tool]) -> Run:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp(), nextval('workflows_epoch')")
        now, epoch = cursor.fetchone()
    run = Run(
        agent=agent,
        workflow=workflow,
        subject_type=body.subject["type"],
        subject_id=body.subject["id"],
        subject_label=body.subject.get("label", ""),
        external_id=body.external_id,
        input=body.input,
        on_behalf_of=agent.acts_for,
        narrowed=agent.narrowed,
        idempotency_key=key,
        body_digest=body.digest,
        epoch=epoch,
        phase=(Phase.OPEN if body.open else Phase.RUNNING).value,
        state=(RunState.OPEN if body.open else RunState.RUNNING).value,
        sealed=not body.open,
        deadline=now + dt.timedelta(seconds=workflow.spec["deadline"]),
        advance_at=now,
        created_at=now,
        changed_at=now,
    )
    steps = [_step(run, n, step, tools[step["tool"]], now) for n, step in enumerate(workflow.spec["steps"], 1)]
    ledger.create_run(run, steps, now=now, actor=f"agent:{agent.name}")
    return run


def _step(run: Run, ordinal: int, declared: dict[str, Any], tool: Tool, now: dt.datetime) -> Step:
    return Step(
        id=new_id(),
        run=run,
        name=declared["name"],
        ordinal=ordinal,
        tool=tool,
        after=declared["after"],
        template=declared["arguments"],
        digest=canonical_digest(declared),
        created_at=now,
    )

"""Makes good by a new act with a declared tool, which a person asks for; in a run that goes on, turns back, or is over.

1. A step of its own (`remedy-1`, `remedy-2`, …) and its effect are written in one commit, with who asked.
2. From there it is an effect like every other: policy, approval, budgets and limits at its dispatch, key, looks, owner.
3. The run is a person's until it is settled. The way back of the run neither calls it off nor undoes it.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import uuid
from collections.abc import Sequence
from typing import Any

from django.db import transaction

from workflows import ledger, making, origins, rows
from workflows.authority import policy, versions
from workflows.engine.parts import forward
from workflows.errors import Denied, Flaw, Invalid, NotFound, StaleFence, shown
from workflows.fetch import give
from workflows.making import canonical_digest
from workflows.models import Effect, Run, Step, Tool
from workflows.models.fields import new_id
from workflows.policies.unwinding import REOPENED
from workflows.states import EffectState, Kind, Phase, StepState
from workflows.toolbox import tool_of
from workflows.tools.expressions import ExpressionError

MOST = 50  # remedies of one run: more aren't a repair any more


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RemedyBody:
    """What a person asks for. `makes_good`: the effect of the same run; None: of the run as a whole. `request`: names
    this one asking, so that a form that is sent twice asks once. `again`: the same act as an earlier remedy's is meant.
    `digest`: of what the person saw that would be sent; "": they saw nothing."""

    tool: str
    arguments: dict[str, Any]
    makes_good: uuid.UUID | None = None
    request: str = ""
    again: bool = False
    digest: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """What would be made, in memory. `twin`: the name of an earlier remedy that asks for the same, or ""."""

    step: Step
    effect: Effect
    verdict: policy.Verdict
    twin: str


def plan(run_id: uuid.UUID, body: RemedyBody) -> Plan:
    """What `remedy` would make now. Writes nothing. Raises `Invalid`, `Denied`, `NotFound`."""
    run = _run(run_id, lock=False)
    return _plan(run, _steps(run), body, rows.now())


def remedy(run_id: uuid.UUID, body: RemedyBody, *, by: str, why: str) -> tuple[Effect, bool]:
    """(the effect, whether it was made now). Raises `Invalid`, `Denied`, `NotFound`; `StaleFence` where what would be
    sent isn't what the person saw."""
    with transaction.atomic():
        run = _run(run_id, lock=True)
        if (known := asked(run_id, body)) is not None:
            return known, False
        made = _plan(run, _steps(run), body, rows.now())
        if body.digest and body.digest != made.effect.digest:
            raise StaleFence("What would be sent isn't what you saw; look at it once more, then send it.")
        if made.twin and not body.again:
            raise Invalid(
                "The same was asked for already.",
                [Flaw("again", False, f"{made.twin} sends the same; say so if a second one is meant")],
            )
        _write(run, made, by, why)
        return made.effect, True


def asked(run_id: uuid.UUID, body: RemedyBody) -> Effect | None:
    """The remedy that this very request has asked for already."""
    return Effect.objects.filter(run=run_id, step__remedy=True, step__digest=_digest(body)).first()


def offered(run_id: uuid.UUID) -> list[Tool]:
    """The tools that a remedy may be made with, by name: those that change something, aren't withdrawn, and that policy
    doesn't deny whatever they are asked for. Arguments may still make it say no."""
    run = _run(run_id, lock=False)
    tools = Tool.objects.filter(current=True, withdrawn_at=None).order_by("name")
    present, now = policy.present(), rows.now()
    return [
        tool for tool in tools if tool.profile["effect_class"] != "read_only" and not _denied(present, run, tool, now)
    ]


def _denied(present: policy.Present, run: Run, tool: Tool, now: dt.datetime) -> bool:
    """A rule that can't be decided without arguments says nothing yet."""
    facts = policy.facts.of_request(run.agent, run, tool, {}, now)
    facts["act"] = {**facts["act"], "kind": Kind.REMEDY.value}
    facts["agent"] = {**facts["agent"], "active": True, "granted": True}
    verdict = policy.decide(present, facts)
    return verdict.verdict == policy.DENY and not verdict.undecided


def call_off(effect_id: uuid.UUID, *, by: str, why: str) -> Effect:
    """A remedy that has not left doesn't leave any more. Raises `Invalid`, `NotFound`."""
    with transaction.atomic():
        run_id = Effect.objects.filter(id=effect_id).values_list("run_id", flat=True).first()
        if run_id is None:
            raise NotFound(f"there is no effect {effect_id}")
        ledger.wake_runs([run_id])
        effect = Effect.objects.select_for_update().get(id=effect_id)
        if not may_call_off(effect):
            raise Invalid(f"it is {effect.state} by now; only a remedy of which nothing has left can be called off")
        effect.cancel(reason="called_off", detail=why)
        effect.payload = {"why": why}
        ledger.save_effects([effect], now=rows.now(), actor=by)
        return effect


def may_call_off(effect: Effect) -> bool:
    waits = effect.state in (EffectState.BLOCKED, EffectState.READY)
    return effect.remedy and waits and not effect.doubt and effect.world == "nothing"


def _run(run_id: uuid.UUID, *, lock: bool) -> Run:
    runs = Run.objects.select_related("workflow", "agent").filter(id=run_id)
    run = (runs.select_for_update(of=("self",)) if lock else runs).first()
    if run is None:
        raise NotFound(f"there is no run {run_id}")
    return run


def _steps(run: Run) -> list[Step]:
    return list(Step.objects.filter(run=run).select_related("tool").order_by("ordinal"))


def _digest(body: RemedyBody) -> str:
    asked = dataclasses.asdict(body)
    return canonical_digest({name: str(asked[name]) for name in ("request", "tool", "arguments", "makes_good")})


def _plan(run: Run, steps: Sequence[Step], body: RemedyBody, now: dt.datetime) -> Plan:
    tool, of = _tool(body), _made_good(run, body)
    earlier = [s for s in steps if s.remedy]
    if len(earlier) >= MOST:
        raise Invalid("too many remedies", [Flaw("tool", body.tool, f"a run has at most {MOST} remedies")])
    step = _step(run, steps, tool, body, now)
    try:
        effect = making.remedy(run, step, [*steps, step], of, now)
    except ExpressionError as trouble:
        raise Invalid(f"{tool} can't be asked for that: {shown(str(trouble), 300)}") from trouble
    give(effect, "agent", run.agent)
    origins.count(effect, Effect.objects.filter(run=run).defer("arguments", "result", "before"))
    forward.ask_world_first(step, effect)
    verdict = policy.decide(policy.present({tool.id}), policy.facts.of_effect(effect, now, granted=True))
    if verdict.verdict == policy.DENY:
        raise Denied(f"Policy doesn't allow it: {verdict.reason} (rule {verdict.rule}).")
    return Plan(step, effect, verdict, _twin(earlier, effect))


def _tool(body: RemedyBody) -> Tool:
    tool = Tool.objects.filter(name=body.tool, current=True).first()
    if tool is None:
        raise Invalid("unknown tool", [Flaw("tool", body.tool, "there is no such tool")])
    if tool.withdrawn_at is not None:
        raise Denied(versions.withdrawn(tool).reason)
    if tool.profile["effect_class"] == "read_only":
        raise Invalid("nothing is made good by it", [Flaw("tool", body.tool, "it only reads; look again instead")])
    if flaws := tool_of(tool).check(body.arguments):
        raise Invalid(f"the arguments do not fit tool {tool}", flaws)
    return tool


def _made_good(run: Run, body: RemedyBody) -> Effect | None:
    """Nobody makes good what is still under way: it may yet end well, or be undone."""
    if body.makes_good is None:
        return None
    effect = Effect.objects.filter(id=body.makes_good, run=run).first()
    if effect is None:
        raise NotFound("this run has no such effect")
    if why := why_not(effect):
        raise Invalid(why, [Flaw("makes_good", str(effect.id), why)])
    return effect


def why_not(effect: Effect) -> str:
    """Why this effect can't be made good now; "" where it can."""
    if effect.compensates_id:
        return "it is an undoing; name what it undoes"
    if effect.remedy:
        return "it is a remedy itself"
    if effect.open and effect.state != EffectState.STUCK:
        return f"it is {effect.state}, so it is still under way; wait until it is settled or stuck"
    return ""


def _twin(earlier: Sequence[Step], effect: Effect) -> str:
    same = Effect.objects.filter(
        step__in=[s.id for s in earlier], digest=effect.digest, makes_good=effect.makes_good_id
    )
    found = same.exclude(state=EffectState.CANCELLED.value).select_related("step").order_by("id").first()
    return found.step.name if found else ""


def _step(run: Run, steps: Sequence[Step], tool: Tool, body: RemedyBody, now: dt.datetime) -> Step:
    names = {step.name for step in steps}
    return Step(
        id=new_id(),
        run=run,
        name=next(name for n in range(1, len(steps) + 2) if (name := f"remedy-{n}") not in names),
        ordinal=(steps[-1].ordinal if steps else 0) + 1,
        tool=tool,
        after=[],
        arguments=body.arguments,  # data, in which nothing is ever evaluated
        state=StepState.ACTIVE.value,
        digest=_digest(body),
        remedy=True,
        created_at=now,
    )


def _write(run: Run, made: Plan, by: str, why: str) -> None:
    now = made.step.created_at
    if run.phase == Phase.OVER:
        run.reopen(ending=REOPENED)
        run.state = run.phase if not run.needs_person else run.state
    run.event = run.event or "remedy"
    run.payload = {"why": why, "remedy": made.step.name}
    run.advance_at = now
    ledger.create_steps(run, [made.step], now=now, actor=by)
    ledger.create_effects([made.effect], now=now, actor=by)

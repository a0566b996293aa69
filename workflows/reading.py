"""Reads runs and effects and shapes them as DESIGN 9 says, in a constant number of queries (API and console).

What comes back are plain values: times as datetimes, ids as text.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

from django.db.models import Count, F, Q, QuerySet

from workflows.errors import NotFound
from workflows.models import Agent, Approval, Attempt, Decision, Effect, Look, Run, Step
from workflows.models.step import SUPERSEDED
from workflows.policies.residue import left_by, made_good, residue_of
from workflows.signals import cases_of_runs
from workflows.states import EffectState, Phase, StepState
from workflows.toolbox import key_until
from workflows.waits import chains

MOST_ROWS = 200  # of attempts, looks and decisions of one effect, the latest; a page must stay readable


def run_of(agent: Agent, run_id: uuid.UUID) -> Run:
    """The agent's run. Another agent's is not found, like one that never was."""
    run = Run.objects.select_related("workflow").defer("workflow__spec").filter(**agent.owned, id=run_id).first()
    if run is None:
        raise NotFound("There is no such run, or it isn't yours.")
    return run


def run_in_full(run: Run) -> dict[str, Any]:
    # The run was read first: should it be over, what is read now is no older than its end.
    steps = list(run.steps.select_related("tool").defer("tool__spec", "template"))
    effects = list(
        run.effects.select_related("tool", "step")
        .defer("tool__spec", "step__template", "step__arguments", "step__result", "before", "poll")
        .order_by("step__ordinal", "id")
    )
    leading = {e.step_id: e for e in effects if not e.compensates_id and e.reason not in SUPERSEDED}
    undoing, good = _undoing(effects), made_good(effects)
    return {
        **_head(run),
        "input": run.input,
        "steps": [step_shape(step, leading.get(step.id), run) for step in steps],
        "effects": [effect_shape(e, undoing.get(e.id), good.get(e.id, "")) for e in effects],
        "residue": run.residue if run.phase == Phase.OVER else residue_of(run.state, effects),
        "cases": cases_of([run.id])[run.id],
        "blocked_by": _blocked(run, effects),
        "deadline": run.deadline,
        "end_cause": run.end_cause,
        "end_reason": run.end_reason,
    }


def run_in_short(run: Run) -> dict[str, Any]:
    """A row of a list: the run without what takes queries of its own."""
    return {**_head(run), "deadline": run.deadline, "created_at": run.created_at, "ended_at": run.ended_at}


def step_in_full(run: Run, name: str) -> dict[str, Any]:
    step = run.steps.select_related("tool").defer("tool__spec", "template").get(name=name)
    own = step.effects.filter(compensates=None).exclude(reason__in=SUPERSEDED)
    return step_shape(step, own.order_by("-id").first(), run)


def step_shape(step: Step, effect: Effect | None, run: Run) -> dict[str, Any]:
    never_begun = run.phase == Phase.OVER and step.state == StepState.PENDING
    return {
        "name": step.name,
        "tool": step.tool.name,
        "state": StepState.SKIPPED.value if never_begun else step.state,
        "arguments": step.arguments,
        "result": step.result,
        "effect": str(effect.id) if effect else None,
        "reason": step.reason,
        "detail": step.detail,
    }


def effect_shape(effect: Effect, undoing: Effect | None, good: str = "") -> dict[str, Any]:
    """`undoing`: the effect's live compensation; `good`: what made it good. `effect` comes with its tool and step."""
    return {
        "id": str(effect.id),
        "kind": effect.kind,
        "step": effect.step.name,
        "tool": effect.tool.name,
        "tool_version": effect.tool.version,
        "state": effect.state,
        "world": effect.world,
        "reason": effect.reason,
        "blocked_by": effect.blocked_by,
        "key": effect.key,
        "digest": effect.digest,
        "scopes": effect.scopes,
        "fence": effect.fence,
        "attempts": effect.attempts,
        "external_ref": effect.external_ref,
        "result": effect.result,
        "verified_at": effect.verified_at,
        "verifiable": effect.verifiable,
        "compensates": str(effect.compensates_id) if effect.compensates_id else None,
        "compensated_by": str(undoing.id) if undoing else None,
        "residue": left_by(effect, undoing, good),
        "owner": effect.owner,
    }


def effect_in_full(agent: Agent, effect_id: uuid.UUID) -> dict[str, Any]:
    """One effect with all that is known about it. Raises NotFound."""
    found = Effect.objects.select_related("tool", "step").defer("tool__spec", "step__template")
    effect = found.filter(**agent.owned, id=effect_id).first()
    if effect is None:
        raise NotFound("There is no such effect, or it isn't yours.")
    undoing = _undoing(effect.compensations.all()).get(effect.id)
    remedies = list(Effect.objects.filter(run_id=effect.run_id, makes_good=effect).order_by("id"))
    sends = _latest(effect.sends.all())
    looks = _latest(effect.looks.all())
    return {
        **effect_shape(effect, undoing, made_good(remedies).get(effect.id, "")),
        "makes_good": str(effect.makes_good_id) if effect.makes_good_id else None,
        "made_good_by": [str(remedy.id) for remedy in remedies],
        "run": str(effect.run_id),
        "arguments": effect.arguments,
        "detail": effect.detail,
        "key_until": key_until(effect),
        "on_behalf_of": effect.on_behalf_of,
        "attempts": [attempt_shape(attempt) for attempt in sends],
        "looks": [look_shape(look) for look in looks],
        "decisions": [decision_shape(decision) for decision in _latest(effect.decisions.all())],
        "approvals": [approval_shape(approval) for approval in _latest(_approvals_of(effect))],
        "evidence": _evidence(sends, looks),
    }


def attempt_shape(attempt: Attempt) -> dict[str, Any]:
    names = ("number", "fence", "started_at", "ended_at", "outcome", "reason", "stale", "evidence")
    return {"id": str(attempt.id), **{name: getattr(attempt, name) for name in names}}


def look_shape(look: Look) -> dict[str, Any]:
    names = ("fence", "begun_at", "ended_at", "verdict", "reason", "reached", "counted", "stale", "evidence")
    return {"id": str(look.id), **{name: getattr(look, name) for name in names}}


def decision_shape(decision: Decision) -> dict[str, Any]:
    names = ("act", "verdict", "policy", "rule", "reason", "inputs", "at")
    return {"id": str(decision.id), **{name: getattr(decision, name) for name in names}}


def _approvals_of(effect: Effect) -> QuerySet[Approval]:
    """With how many people have said yes to what is asked now."""
    yes = Count("votes", filter=Q(votes__verdict="approve", votes__seen_digest=F("digest")))
    return effect.approvals.defer("fields", "target", "origin", "question").annotate(approved=yes)


def approval_shape(approval: Any) -> dict[str, Any]:
    """What an agent may know of a question to people: that it is asked, not who may answer."""
    names = ("state", "digest", "reason", "policy", "needed", "approved", "asked_at", "expires_at", "decided_at")
    return {
        "id": str(approval.id),
        **{name: getattr(approval, name) for name in names},
        "void_reason": approval.void_reason,
        "detail": approval.detail,
    }


def cases_of(run_ids: list[uuid.UUID]) -> dict[uuid.UUID, list[dict[str, Any]]]:
    """The cases of each run as those who keep them show them; none where nobody listens."""
    found: dict[uuid.UUID, list[dict[str, Any]]] = {run_id: [] for run_id in run_ids}
    answers: Any = cases_of_runs.send(sender=Run, run_ids=run_ids)
    for _receiver, cases in answers:
        for run_id, some in cases.items():
            found[run_id] += some
    return found


def _head(run: Run) -> dict[str, Any]:
    return {
        "id": str(run.id),
        "workflow": run.workflow.name,
        "version": run.workflow.version,
        "subject": {"type": run.subject_type, "id": run.subject_id, "label": run.subject_label},
        "external_id": run.external_id,
        "phase": run.phase,
        "state": run.state,
        "clean": run.is_clean,
        "sealed": run.sealed,
    }


def _undoing(effects: Iterable[Effect]) -> dict[uuid.UUID | None, Effect]:
    """Forward effect's id to its live compensation; a cancelled one never did anything."""
    return {e.compensates_id: e for e in effects if e.compensates_id and e.state != EffectState.CANCELLED}


def _blocked(run: Run, effects: list[Effect]) -> list[dict[str, Any]]:
    blocked = [e for e in effects if e.state == EffectState.BLOCKED]
    chain = chains([e.id for e in blocked if e.reason == "order"])
    waits = [
        {
            "effect": str(e.id),
            "step": e.step.name,
            "reason": e.reason,
            "by": e.blocked_by,
            "chain": chain.get(e.id, []),
            "until": e.due_at,
        }
        for e in blocked
    ]
    if run.waits_until and run.phase != Phase.OVER:
        # What was undone is looked at once more when no late answer can bring it back.
        waits.append({"effect": None, "step": None, "reason": "late", "by": [], "chain": [], "until": run.waits_until})
    return waits


def _evidence(sends: list[Attempt], looks: list[Look]) -> dict[str, Any] | None:
    """What the present knowledge rests on: the last look that counted, else the last answer."""
    for look in reversed(looks):
        if look.counted and look.reached:
            return {
                "of": "look",
                "id": str(look.id),
                "at": look.ended_at,
                "says": look.verdict,
                "evidence": look.evidence,
            }
    for send in reversed(sends):
        if send.ended_at:
            return {
                "of": "attempt",
                "id": str(send.id),
                "at": send.ended_at,
                "says": send.outcome,
                "evidence": send.evidence,
            }
    return None


def _latest(rows: QuerySet[Any]) -> list[Any]:
    """In the order of time."""
    return list(rows.order_by("-id")[:MOST_ROWS])[::-1]

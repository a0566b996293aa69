"""A run's steps and effects without what may be large, in three queries however many there are. For its pages."""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models import Case, OuterRef, Subquery, UUIDField, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import JSONObject

from workflows.models import Attempt, Decision, Effect, Look, Run, Step, Tool

OF_STEPS = ("template", "arguments", "result")
SAID = Decision.objects.filter(effect=OuterRef("pk")).order_by("-id")
LAST = Subquery(SAID.values(all=JSONObject(rule="rule", policy="policy", verdict="verdict"))[:1])
OF_EFFECTS = ("arguments", "result", "before", "poll", "reads", "origin", "targets", "scopes")


def rows_of(run: Run) -> tuple[list[Step], list[Effect]]:
    """In the order of the run; each effect knows its step, its tool, what it undoes, and as `said` what policy said
    of it last; each step its tool."""
    steps = list(Step.objects.filter(run=run).defer(*OF_STEPS).order_by("ordinal"))
    partly = KeyTextTransform("partial", "result")
    effects = list(Effect.objects.filter(run=run).defer(*OF_EFFECTS).annotate(partly=partly, said=LAST))
    tools = Tool.objects.in_bulk({*(step.tool_id for step in steps), *(effect.tool_id for effect in effects)})
    by_step, by_id = {step.id: step for step in steps}, {effect.id: effect for effect in effects}
    for step in steps:
        step.tool = tools[step.tool_id]
    for effect in effects:
        effect.tool = tools[effect.tool_id]
        effect.step = by_step[effect.step_id]
        if effect.compensates_id:
            effect.compensates = by_id[effect.compensates_id]
            # All that is asked of an undoing's result, without the rest of it; it would be read row by row.
            effect.__dict__["result"] = {"partial": effect.partly == "true"}
    return steps, sorted(effects, key=lambda effect: (effect.step.ordinal, effect.id))


def last_sends(run: Run) -> dict[uuid.UUID, Any]:
    """The last send of each effect; where its answer was lost, with id and moment of the look that found it done."""
    after = Look.objects.filter(effect=OuterRef("effect"), id__gt=OuterRef("id"), verdict="found", reached=True)
    lost = When(outcome__in=("unknown", ""), then=Subquery(after.order_by("id").values("id")[:1]))
    sends = Attempt.objects.filter(effect__in=Effect.objects.filter(run=run).values("id")).defer("evidence")
    sends = sends.annotate(seen=Case(lost, default=None, output_field=UUIDField()))
    return {send.effect_id: send for send in sends.order_by("effect_id", "-id").distinct("effect_id")}


def last_looks(effect_ids: list[uuid.UUID]) -> dict[uuid.UUID, Look]:
    looks = Look.objects.filter(effect__in=effect_ids).defer("evidence")
    return {look.effect_id: look for look in looks.order_by("effect_id", "-id").distinct("effect_id")}

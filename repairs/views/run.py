"""One run: its lanes in time, its effects and steps as a table, its residue, and its journal."""

from __future__ import annotations

import dataclasses
import uuid
from typing import Any

from django.db.models import OuterRef, Subquery
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.http import HttpRequest, HttpResponse

from repairs import graph, lanes, reading
from repairs.models import Case
from repairs.scope import one, visible
from repairs.views.screen import at_desk, screen, show
from repairs.words.facts import EffectFacts
from repairs.words.seen import Row, row
from workflows.models import Attempt, Effect, Entry, Look, Payload, Run, Step

FIRST, LAST = 200, 50  # journal entries shown from the beginning and from the end
SENDS, LOOKS = 500, 1000  # drawn at most


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """A line of the ledger: a step, with its effect where it has one."""

    step: Step
    effect: Effect | None = None
    fact: EffectFacts | None = None
    row: Row | None = None


@screen
def run_page(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    run = find(request, run_id)
    effects = reading.effects_of([run.id])[run.id]
    ids = [effect.id for effect in effects]
    sends = list(Attempt.objects.filter(effect__in=ids).defer("evidence").order_by("id")[:SENDS])
    looks = list(Look.objects.filter(effect__in=ids).defer("evidence").order_by("id")[:LOOKS])
    facts = reading.facts_of(
        run, effects, {look.effect_id: look for look in looks}, {send.effect_id: send for send in sends}
    )
    journal, left_out = entries_of(run.id)
    steps = steps_of(run)
    return show(
        request,
        "console/run.html",
        here="runs",
        run=run,
        subject=reading.subject_of(run),
        lines=lines_of(steps, effects, facts),
        graph=graph.draw(steps, effects, {s.name for s in steps if s.effect_class == "irreversible"}),
        drawing=lanes.draw(effects, sends, looks),
        cases=Case.objects.filter(run=run).only("number", "state", "sentence"),
        journal=journal,
        left_out=left_out,
        names={effect.id: effect.step.name for effect in effects},
    )


def find(request: HttpRequest, run_id: uuid.UUID) -> Run:
    return one(visible(at_desk(request), Run).select_related("agent", "workflow"), id=run_id)


def steps_of(run: Run) -> list[Any]:
    """With the class of each one's tool, but without the rest of what the tool declares."""
    steps = Step.objects.filter(run=run).select_related("tool").defer("template", "arguments", "result", "tool__spec")
    return list(
        steps.annotate(effect_class=KeyTextTransform("effect_class", KeyTransform("profile", "tool__spec"))).order_by(
            "ordinal"
        )
    )


def lines_of(steps: list[Any], effects: list[Effect], facts: list[EffectFacts]) -> list[Line]:
    """Steps in their order, each with its effects in theirs; a step without one stands alone."""
    lines = []
    for step in steps:
        own = [Line(step, e, f, row(f)) for e, f in zip(effects, facts, strict=True) if e.step_id == step.id]
        lines += own or [Line(step)]
    return lines


def entries_of(run_id: uuid.UUID) -> tuple[list[dict[str, Any]], int]:
    """The run's journal with its words: the first and the last entries, and how many lie between."""
    words = Subquery(Payload.objects.filter(entry_id=OuterRef("id")).values("data"))
    entries = Entry.objects.filter(run_id=run_id).annotate(data=words)
    found = list(entries.order_by("id")[: FIRST + LAST + 1])
    left_out = 0
    if len(found) > FIRST + LAST:
        tail = list(entries.order_by("-id")[:LAST])[::-1]
        found, left_out = found[:FIRST] + tail, -1
    return [{"entry": entry, "data": entry.data} for entry in found], left_out

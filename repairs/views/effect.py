"""One effect: what was asked, each send, each look, each decision, and its journal. And its values as files."""

from __future__ import annotations

import json
import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.http import content_disposition_header

from repairs import reading
from repairs.scope import one, visible
from repairs.views.screen import at_desk, screen, show
from repairs.words.seen import row
from workflows.models import Attempt, Decision, Effect, Entry, Look, Payload

SHOWN = 200  # rows of each history; what lies before them is said to be there
VALUES = ("arguments", "result", "before")


@screen
def effect_page(request: HttpRequest, run_id: uuid.UUID, effect_id: uuid.UUID) -> HttpResponse:
    effect = find(request, run_id, effect_id)
    sends = list(Attempt.objects.filter(effect=effect).order_by("-id")[:SHOWN])
    looks = list(Look.objects.filter(effect=effect).order_by("-id")[:SHOWN])
    decisions = list(Decision.objects.filter(effect=effect).select_related("agent").order_by("-id")[:SHOWN])
    entries = list(Entry.objects.filter(subject_id=effect.id).order_by("-seq")[:SHOWN])
    payloads = dict(Payload.objects.filter(entry_id__in=[e.id for e in entries]).values_list("entry_id", "data"))
    fact = reading.facts_of(
        effect.run, [effect], {effect.id: looks[0]} if looks else {}, {effect.id: sends[0]} if sends else {}
    )[0]
    return show(
        request,
        "console/effect.html",
        here="runs",
        effect=effect,
        run=effect.run,
        subject=reading.subject_of(effect.run),
        fact=fact,
        row=row(fact),
        undoing=Effect.objects.filter(compensates=effect).defer(*VALUES).first(),
        sends=sends,
        looks=looks,
        decisions=decisions,
        journal=[{"entry": entry, "data": payloads.get(entry.id)} for entry in entries],
        values=[(name, getattr(effect, name)) for name in VALUES if getattr(effect, name) is not None],
        shown=SHOWN,
    )


@screen
def effect_value(request: HttpRequest, run_id: uuid.UUID, effect_id: uuid.UUID, name: str) -> HttpResponse:
    """A value whole, as a file: never shown as a page, whatever it holds."""
    value: Any = getattr(find(request, run_id, effect_id), name)
    answer = HttpResponse(json.dumps(value, ensure_ascii=True, indent=2), content_type="application/json")
    answer["Content-Disposition"] = content_disposition_header(True, f"{effect_id}-{name}.json")
    return answer


def find(request: HttpRequest, run_id: uuid.UUID, effect_id: uuid.UUID) -> Effect:
    effects = visible(at_desk(request), Effect).select_related(
        "run__agent", "run__workflow", "step", "tool", "compensates"
    )
    return one(effects, id=effect_id, run=run_id)

"""A run in time: some of its effects drawn as lanes, and the same as a table."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse

from repairs import happened, lanes
from repairs.happened import Asked, Deed
from repairs.models import Act
from repairs.templatetags.console import act_words
from repairs.views.run import beginning
from repairs.views.run_head import find, head
from repairs.views.screen import screen, show
from repairs.words import verdicts
from repairs.words.marked import _
from workflows.models import Approval, Attempt, Effect, Look, Run

LANES = 24  # effects of one page
SENDS, LOOKS, WORDS = 300, 600, 200  # of these, drawn at most; each effect's own page has all


@dataclasses.dataclass(frozen=True, slots=True)
class Rows:
    effects: list[Effect]
    sends: list[Attempt]
    looks: list[Look]
    asked: list[Asked]
    deeds: list[Deed]


@screen
def time_page(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """`?from=` the number of the effect with which it begins."""
    run, start = find(request, run_id), beginning(request)
    effects = list(effects_of(run)[start : start + LANES + 1])
    rows = rows_of(run, effects[:LANES])
    first, last, between = happened.lines(rows.effects, rows.sends, rows.looks, rows.asked, rows.deeds)
    return show(
        request,
        "console/run_time.html",
        here="runs",
        **head(run, "time"),
        drawing=lanes.draw(rows.effects, rows.sends, rows.looks, rows.asked, rows.deeds),
        lines=first,
        tail=last,
        between=between,
        cut=len(rows.sends) == SENDS or len(rows.looks) == LOOKS or len(rows.deeds) >= WORDS,
        start=start,
        next=start + LANES if len(effects) > LANES else 0,
    )


def effects_of(run: Run) -> Any:
    rows = Effect.objects.filter(run=run).select_related("step").order_by("step__ordinal", "id")
    return rows.only(
        "id", "run", "state", "world", "kind", "fence", "seq", "compensates", "verifiable", "created_at", "changed_at",
        "step__id", "step__name",
    )  # fmt: skip


def rows_of(run: Run, effects: list[Effect]) -> Rows:
    ids = [effect.id for effect in effects]
    asked, said = questions(ids)
    sends, looks = Attempt.objects.filter(effect__in=ids), Look.objects.filter(effect__in=ids)
    return Rows(
        effects,
        list(sends.defer("evidence", "reason").order_by("id")[:SENDS]),
        list(looks.defer("evidence", "reason").order_by("id")[:LOOKS]),
        asked,
        said + acts_of(run),
    )


ASKED = ("id", "effect_id", "asked_at", "decided_at", "state", "approvers")
SAID = ("votes__at", "votes__by__username", "votes__verdict")


def questions(ids: Sequence[uuid.UUID]) -> tuple[list[Asked], list[Deed]]:
    """What people were asked about these effects, and what each of them said. One query."""
    asked: dict[uuid.UUID, Asked] = {}
    said = []
    rows = Approval.objects.filter(effect__in=ids).order_by("id").values_list(*ASKED, *SAID)[:WORDS]
    for key, effect, at, until, state, approvers, voted_at, who, verdict in rows:
        asked[key] = Asked(effect, at, until, state, verdicts.asked_of(approvers))
        if voted_at:
            said.append(Deed(voted_at, who, _("approved") if verdict == "approve" else _("refused"), effect))
    return list(asked.values()), said


def acts_of(run: Run) -> list[Deed]:
    """The latest that people did to the run's cases."""
    acts = Act.objects.filter(case__run=run).order_by("-id").select_related("by")[:WORDS]
    return [Deed(act.at, act.by.get_username(), act_words(act.kind, act.outcome), act.effect_id) for act in acts]

"""Reads out of a case's acts what people wrote beside it, for the blocks of the case's page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Q

from repairs.acts.note import HOW
from repairs.models import Act, Case
from repairs.models.act import ActKind
from repairs.runbook import of_signature, places
from repairs.words.facts import EffectFacts
from repairs.words.tell import must_tell
from repairs.worked import MEASURED, time_of

# Acts that stay in sight however many others follow.
LATEST, MOST = 200, 700  # a case with more has its whole journal on the run's page
LASTING = (
    ActKind.FACT,
    ActKind.GUESS,
    ActKind.CONFIRM,
    ActKind.REFUTE,
    ActKind.TOLD,
    ActKind.TICK,
    ActKind.DEVIATE,
    ActKind.CORRECT_TIME,
)


def acts_of(case: Case) -> list[Act]:
    """The latest, and of the earlier ones what stays in sight; the newest first. One statement."""
    latest = Act.objects.filter(case=case).order_by("-id").values("id")[:LATEST]
    lasting = Q(kind__in=LASTING) | Q(facts__has_key="evidence")
    acts = Act.objects.filter(Q(id__in=latest) | lasting, case=case).select_related("by", "second")
    return list(acts.order_by("-id")[:MOST])


def beside(case: Case, acts: Sequence[Act], facts: Iterable[EffectFacts]) -> dict[str, Any]:
    """`acts`: the newest first. What is known grows downwards, so the blocks show the oldest first."""
    runbook = of_signature(case.signature)
    told = list(reversed(acts))
    verdicts = {act.answers_id: act for act in told if act.kind in (ActKind.CONFIRM, ActKind.REFUTE)}
    return {
        "facts_noted": [act for act in told if act.kind == ActKind.FACT],
        "guesses": [(act, verdicts.get(act.id)) for act in told if act.kind == ActKind.GUESS],
        "tellings": [(act, HOW.get(act.facts.get("how", ""), "")) for act in told if act.kind == ActKind.TOLD],
        "must_tell": must_tell(list(facts)),
        "evidence": [(act, piece) for act in told for piece in act.facts.get("evidence", ())],
        "ways": HOW,
        "time": time_of(getattr(case, MEASURED), acts),
        "runbook": runbook,
        "places": places(runbook, acts) if runbook else [],
    }

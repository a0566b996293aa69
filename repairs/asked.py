"""What persons are asked: the lists of approvals. Used by the frame of every page and the approvals pages."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, OuterRef, QuerySet
from django.db.models.functions import JSONObject

from repairs import remarks
from repairs.counting import CAP
from repairs.desk import Desk
from repairs.models import Act
from repairs.models.act import ActKind
from repairs.scope import visible
from workflows.models import Agent, Approval, Effect
from workflows.models.approval import ApprovalState

ASKED = ApprovalState.ASKED.value

# Lists never load what can be large.
HEAVY = (
    "fields", "target", "origin", "question",
    *(f"effect__{name}" for name in ("arguments", "result", "before", "poll", "blocked_by", "scopes")),
    *(f"run__{name}" for name in ("input", "residue", "people_reasons")),
)  # fmt: skip


def to_decide(desk: Desk, at: dt.datetime) -> QuerySet[Approval]:
    """What waits for a person's word and is still in its time, but for what they have left to others."""
    return visible(desk, Approval).filter(~remarks.left_by(desk), state=ASKED, expires_at__gt=at)


def decided(desk: Desk, at: dt.datetime) -> QuerySet[Approval]:
    """All that isn't asked any more, and what ran out and nobody has come by yet."""
    return visible(desk, Approval).exclude(state=ASKED, expires_at__gt=at)


def requested_by(desk: Desk) -> QuerySet[Approval]:
    """What is done on this person's behalf, and their remedies: theirs to follow, not to approve. The latest of each
    kind, by its index: asked for with "or", all that was ever asked would be read."""
    me = f"person:{desk.user.get_username()}"
    agents = Agent.objects.filter(on_behalf_of=me).values("id")
    by_agent = Approval.objects.filter(agent__in=agents).order_by("-id").values("id")[:CAP]
    effects = Effect.objects.filter(on_behalf_of=me).order_by("-id").values("id")[:CAP]
    by_effect = Approval.objects.filter(effect__in=effects).order_by().values("id")
    acts = Act.objects.filter(by=desk.user, kind=ActKind.REMEDY.value).order_by("-id").values("effect")[:CAP]
    by_hand = Approval.objects.filter(effect__in=acts).order_by().values("id")
    return visible(desk, Approval).filter(id__in=by_agent.union(by_effect, by_hand))


def by_person(effect: Effect) -> str:
    """Who asked for it, where a person did: a remedy. Why they did is not for whoever decides to read before."""
    if not effect.remedy:
        return ""
    act = Act.objects.filter(case__run=effect.run_id, effect=effect, kind=ActKind.REMEDY.value).select_related("by")
    return next((one.by.get_username() for one in act), "")


def light(rows: QuerySet[Approval]) -> QuerySet[Approval]:
    """With what a line of a list needs, and no more."""
    return rows.select_related("effect", "run", "agent").defer(*HEAVY)


SIMILAR = 50  # decisions that a page counts


def similar(desk: Desk, approval: Approval) -> list[Any]:
    """The latest decisions about the same tool by the same rule, one more than are counted. One query."""
    rows = visible(desk, Approval).filter(tool=approval.tool, reason=approval.reason, act=approval.act)
    rows = rows.exclude(id=approval.id).exclude(state=ASKED).order_by("-id")
    return list(
        rows.values("id", "state", "decided_at", "void_reason", "run__subject_label", "run__subject_id")[: SIMILAR + 1]
    )


OF_ITS_RUN = "approvals_of_its_run"  # as what a query of cases brings it along
LATEST = 200


def of_its_run() -> ArraySubquery:
    """Beside each case of a query: what people were asked about its run, [{"id", "tool", "why", "state", "at"}]."""
    mine = Approval.objects.filter(run=OuterRef("run")).order_by("-id")
    told = {"id": F("id"), "tool": F("tool"), "why": F("why"), "state": F("state"), "at": F("asked_at")}
    return ArraySubquery(mine.values(told=JSONObject(**told))[:LATEST])

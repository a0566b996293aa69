"""Of which notices there still is something to tell: nobody wants to hear of what is over. Asked before sending."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Now

from repairs.models import Batch, Case, Glass, Remark
from repairs.models.batch import BatchState
from repairs.models.notice import Notice, What
from workflows.authority import stops
from workflows.models import Approval, BudgetChange, Credential
from workflows.models.credential import CredentialState

Ids = Collection[UUID]


def still_true(notices: Sequence[Notice]) -> set[UUID]:
    """Their ids. One query for each sort of thing."""
    asked: dict[Callable[[Ids], Ids], set[UUID]] = defaultdict(set)
    for notice in notices:
        asked[STANDS[What(notice.what)]].add(notice.subject)
    live = {subject for stands, subjects in asked.items() for subject in stands(subjects)}
    return {notice.id for notice in notices if notice.subject in live}


def cases(of: Ids) -> Ids:
    return ids(Case.objects.live().filter(id__in=of))


def approvals(of: Ids) -> Ids:
    return ids(Approval.objects.filter(id__in=of, state="asked"))


def expiring(of: Ids) -> Ids:
    return ids(Approval.objects.filter(id__in=of, state="asked", expires_at__gt=Now()))


def budgets(of: Ids) -> Ids:
    return ids(BudgetChange.objects.filter(id__in=of, state="asked"))


def credentials(of: Ids) -> Ids:
    return ids(Credential.objects.filter(id__in=of, state=CredentialState.LOST.value))


def frozen(of: Ids) -> Ids:
    return {stop.id for stop in stops.standing()}.intersection(of)


def glasses(of: Ids) -> Ids:
    return ids(Glass.objects.filter(id__in=of, reviewed_at=None))


def remarks(of: Ids) -> Ids:
    return ids(Remark.objects.filter(id__in=of, approval__state="asked"))


def batches(of: Ids) -> Ids:
    return ids(Batch.objects.filter(id__in=of, state=BatchState.ASKED.value))


def happened(of: Ids) -> Ids:
    """What nothing that comes later makes untrue."""
    return of


def ids(rows: QuerySet) -> set[UUID]:  # type: ignore[type-arg]  # of any model
    return set(rows.values_list("id", flat=True))


# Every kind is here: one that isn't would break the sending, and not be dropped as if it were over.
STANDS: dict[What, Callable[[Ids], Ids]] = {
    What.CASE: cases,
    What.DEADLINE: cases,
    What.WRITE_OFF: cases,
    What.TAKE_OVER: cases,
    What.ESCALATION: cases,
    What.HAND_OVER: cases,
    What.APPROVAL: approvals,
    What.EXPIRING: expiring,
    What.EXPIRED: happened,
    What.BUDGET: budgets,
    What.CREDENTIAL: credentials,
    What.STOP: frozen,
    What.GLASS: glasses,
    What.REMARK: remarks,
    What.BATCH: batches,
    What.PERSON: happened,
}

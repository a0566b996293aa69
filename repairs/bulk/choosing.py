"""Which cases a batch is about: those that were ticked, or all of a narrowed view; frozen, each as it is now."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Sequence

from django.db import transaction
from django.db.models import QuerySet

from repairs import worklist
from repairs.bulk.versions import versioned
from repairs.desk import Desk
from repairs.models import Batch, BatchItem, Case
from repairs.models.batch import BatchAct
from repairs.scope import visible
from workflows import rows
from workflows.errors import Flaw, Invalid

MOST = 500  # cases in a batch: more than that nobody looks through before saying yes
ALONE = 50  # up to here one person may
LONGEST = 18  # digits of a case's number


def ticked(desk: Desk, numbers: Sequence[str]) -> QuerySet[Case]:
    """Raises `Invalid` for none, too many, one twice, or one that isn't there."""
    if not numbers:
        raise Invalid("Tick at least one case.", [Flaw("case", "", "is empty")])
    if len(numbers) > MOST:
        raise Invalid(f"At most {MOST} cases fit into a batch.", [Flaw("case", len(numbers), "are too many")])
    wrong = [n for n in numbers if not (n.isascii() and n.isdigit() and len(n) <= LONGEST)]
    twice = [n for n in numbers if numbers.count(n) > 1]
    cases = visible(desk, Case).filter(number__in=[] if wrong else [int(n) for n in numbers])
    if not wrong and not twice and (missing := set(map(int, numbers)) - set(cases.values_list("number", flat=True))):
        wrong = [str(min(missing))]
    if wrong or twice:
        what = "is no case" if wrong else "is given twice"
        raise Invalid("Nothing was chosen; open the queue anew.", [Flaw("case", (wrong or twice)[0], what)])
    return cases


def matching(desk: Desk, view: worklist.View, choice: worklist.Choice, at: dt.datetime) -> QuerySet[Case]:
    """All open cases that are like that. Raises `Invalid` where that would be all there are."""
    if not choice.narrowed() and view.name != "mine":
        raise Invalid(
            "Narrow the queue first, by a cause, a tool or a team: nobody acts on all that is open at once.",
            [Flaw("of", "all", "names no cases")],
        )
    return worklist.live(visible(desk, Case)).filter(choice.q(), view.chosen(at, desk.user.pk))


def freeze(desk: Desk, act: BatchAct, cases: QuerySet[Case], chosen: str) -> Batch:
    """A draft of these cases and no others, ever. Raises `Invalid` for none, or more than fit. Four statements."""
    with transaction.atomic():
        now = rows.now()
        found = list(versioned(cases).order_by("number").values_list("id", "number", "version_now")[: MOST + 1])
        if not found:
            raise Invalid("No open case is like that any more.", [Flaw("of", "all", "names no cases")])
        if len(found) > MOST:
            raise Invalid(
                f"More than {MOST} cases are like that, and no more fit into a batch. Narrow the queue further.",
                [Flaw("of", "all", "names too many cases")],
            )
        batch = Batch.objects.create(
            act=act.value,
            chosen=chosen[:300],
            count=len(found),
            digest=digest(act, [(number, version) for _, number, version in found]),
            by=desk.user,
            needs_second=len(found) > ALONE,
            made_at=now,
        )
        BatchItem.objects.bulk_create(
            [BatchItem(batch=batch, case_id=case_id, version=version) for case_id, _, version in found]
        )
    return Batch.objects.get(id=batch.id)  # with its number, which the database gave


def digest(act: BatchAct, items: Sequence[tuple[int, str]]) -> str:
    lines = [act.value, *(f"{number} {version}" for number, version in items)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()

"""Which cases a batch is about: those that were ticked, or all of a narrowed view; frozen, each as it is now."""

from __future__ import annotations

import datetime as dt
import hashlib
import uuid
from collections.abc import Sequence

from django.db import transaction
from django.db.models import QuerySet

from repairs import worklist
from repairs.bulk.sending import sendings
from repairs.bulk.versions import versioned
from repairs.desk import Desk
from repairs.models import Batch, BatchItem, Case
from repairs.models.act import ActKind
from repairs.models.batch import BatchAct
from repairs.scope import visible
from repairs.words.marked import _
from workflows import rows
from workflows.errors import Flaw, Invalid

MOST = 500  # cases in a batch: more than that nobody looks through before saying yes
MOST_SENT = 50  # where something is sent: each has requests that two people read
ALONE = 50  # up to here one person may, where nothing is sent
LONGEST = 18  # digits of a case's number


def ticked(desk: Desk, numbers: Sequence[str]) -> QuerySet[Case]:
    """Raises `Invalid` for none, too many, one twice, or one that isn't there."""
    if not numbers:
        raise Invalid(_("Tick at least one case."), [Flaw("case", "", _("is empty"))])
    if len(numbers) > MOST:
        raise Invalid(
            _("At most {most} cases fit into a batch.", most=MOST), [Flaw("case", len(numbers), _("are too many"))]
        )
    wrong = [n for n in numbers if not (n.isascii() and n.isdigit() and len(n) <= LONGEST)]
    twice = [n for n in numbers if numbers.count(n) > 1]
    cases = visible(desk, Case).filter(number__in=[] if wrong else [int(n) for n in numbers])
    if not wrong and not twice and (missing := set(map(int, numbers)) - set(cases.values_list("number", flat=True))):
        wrong = [str(min(missing))]
    if wrong or twice:
        what = _("is no case") if wrong else _("is given twice")
        raise Invalid(_("Nothing was chosen; open the queue anew."), [Flaw("case", (wrong or twice)[0], what)])
    return cases


def matching(desk: Desk, view: worklist.View, choice: worklist.Choice, at: dt.datetime) -> QuerySet[Case]:
    """All open cases that are like that. Raises `Invalid` where that would be all there are."""
    if not choice.narrowed() and view.name != "mine":
        raise Invalid(
            _("Narrow the queue first, by a cause, a tool or a team: nobody acts on all that is open at once."),
            [Flaw("of", "all", _("names no cases"))],
        )
    return worklist.live(visible(desk, Case)).filter(choice.q(), view.chosen(at, desk.user.pk))


def freeze(desk: Desk, act: BatchAct, cases: QuerySet[Case], chosen: str) -> Batch:
    """A draft of these cases and no others, ever, each with the digest of what would be sent for it. Raises `Invalid`
    for none, or more than fit. Four statements; of an act that sends ten, and one for tools not met yet."""
    most = MOST_SENT if act.sends else MOST
    with transaction.atomic():
        now = rows.now()
        columns = ("id", "number", "version_now", "agent_id")
        found = list(versioned(cases).order_by("number").values_list(*columns)[: most + 1])
        if not found:
            raise Invalid(_("No open case is like that any more."), [Flaw("of", "all", _("names no cases"))])
        if len(found) > most:
            said = _("More than {most} cases are like that, and no more fit into a batch. Narrow the queue further.")
            if act.sends:
                said = _(
                    "More than {most} cases are like that, and no more fit into a batch that sends. Narrow the queue "
                    "further."
                )
            raise Invalid(
                said.given(most=most),
                [Flaw("of", "all", _("names too many cases"))],
            )
        made = previews(act, [case_id for case_id, *_ in found], now) if act.sends else {}
        items = [
            BatchItem(case_id=case_id, version=version, effect_id=effect_id, preview=preview)
            for case_id, _, version, _ in found
            for effect_id, preview in [made.get(case_id, (None, ""))]
        ]
        batch = Batch.objects.create(
            act=act.value,
            chosen=chosen[:300],
            count=len(found),
            digest=digest(act, [number for _, number, *_ in found], items),
            by=desk.user,
            agents=sorted({agent_id for *_, agent_id in found}),
            needs_second=act.sends or len(found) > ALONE,
            made_at=now,
        )
        for item in items:
            item.batch = batch
        BatchItem.objects.bulk_create(items)
    return Batch.objects.get(id=batch.id)  # with its number, which the database gave


def previews(
    act: BatchAct, ids: Sequence[uuid.UUID], now: dt.datetime
) -> dict[uuid.UUID, tuple[uuid.UUID | None, str]]:
    """By case: the effect that the act is about, and the digest of what would be sent; "" where it isn't offered."""
    cases = Case.objects.filter(id__in=ids).select_related("run__workflow")
    made = sendings(ActKind(act), cases, at=now, now=now)
    return {pk: (one.effect.id if one.effect else None, one.digest) for pk, one in made.items()}


def digest(act: BatchAct, numbers: Sequence[int], items: Sequence[BatchItem]) -> str:
    """Over the act and, of each case, its version, the effect and what would be sent."""
    of = [f"{n} {item.version} {item.effect_id or ''} {item.preview}" for n, item in zip(numbers, items, strict=True)]
    return hashlib.sha256("\n".join([act.value, *of]).encode()).hexdigest()

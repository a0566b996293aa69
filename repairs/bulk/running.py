"""The task that carries batches out, one case a transaction. Killed anywhere it goes on where its rows say."""

from __future__ import annotations

import contextlib
import datetime as dt
import time
import uuid
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import F

from config.house import stopping
from repairs.acts.bulk import TASK, note
from repairs.acts.record import record
from repairs.bulk.acting import act, because
from repairs.models import Batch, BatchItem
from repairs.models.act import ActKind, Outcome
from repairs.models.batch import BatchState, ItemState
from repairs.words.marked import _
from workflows import queue, rows, salvage
from workflows.policies.poison import TOO_OFTEN

WORK_FOR = 40.0  # seconds, as drains do; then the next task goes on
DRAFTS_KEPT = ASKED_FOR = dt.timedelta(days=1)  # by then nothing is as it was chosen

log = structlog.get_logger(__name__)


def run() -> None:
    """Until nothing waits, it has worked long enough, or this program is being stopped."""
    end = time.monotonic() + WORK_FOR
    while salvage.again(one):
        if stopping.asked():
            return
        if time.monotonic() > end:
            queue.later(TASK)
            return


def one() -> bool:
    """Takes the next case of a running batch, acts on it and keeps what came of it. False: none is left."""
    taken = take()
    if taken is None:
        return False
    try:
        meet(taken.id)
    except (OperationalError, InterfaceError):
        came_back(taken.id)
        raise
    finish(taken.batch_id)
    return True


def take() -> BatchItem | None:
    """The next one, and that its worker may not come back: committed before anything of the case is read, so that who
    dies of it can't forget it. Those that nobody died of go first."""
    with transaction.atomic():
        waiting = BatchItem.objects.filter(state=ItemState.WAITING.value, batch__state=BatchState.RUNNING.value)
        item = waiting.order_by("tries", "batch_id", "id").select_for_update(of=("self",), skip_locked=True).first()
        if item is not None:
            item.tries += 1
            item.save(update_fields=["tries"])
        return item


def meet(item_id: uuid.UUID) -> None:
    """The batch is held as running meanwhile: whoever stops it waits for this case, and for no other."""
    with transaction.atomic():
        waiting = BatchItem.objects.filter(id=item_id, state=ItemState.WAITING.value)
        item = waiting.select_for_update(of=("self",), skip_locked=True).first()
        if item is None:  # another worker was faster
            return
        if state_held(item) != BatchState.RUNNING:
            item.tries = 0
        else:
            batch = Batch.objects.select_related("by", "second").get(id=item.batch_id)
            state, item.said = give_up(batch, item) if item.tries > TOO_OFTEN else carry_out(batch, item)
            item.state, item.at = state.value, rows.now()
        item.save(update_fields=["state", "said", "at", "tries"])


def came_back(item_id: uuid.UUID) -> None:
    """The database was away or somebody else was faster, and this worker lives: it was nothing of this case. Where that
    can't be kept it counts as one worker lost."""
    if not connection.is_usable():
        connection.close()
    with contextlib.suppress(OperationalError, InterfaceError):
        BatchItem.objects.filter(id=item_id, tries__gt=0).update(tries=F("tries") - 1)


def give_up(batch: Batch, item: BatchItem) -> tuple[ItemState, str]:
    """Nothing of the case is read any more. Its page says so too: that is where a person goes on."""
    known: dict[str, Any] = {"effect_id": item.effect_id, "detail": POISON, "why": because(batch)}
    record(item.case_id, kind=ActKind(batch.act), by=batch.by, outcome=Outcome.REFUSED, now=rows.now(), **known)
    return ItemState.FAILED, POISON


POISON = _(
    "Every worker that took it died, several in a row, so none takes it any more. Nothing was done. Have an operator "
    "read the log; then act on its own page, or choose it anew."
)


def state_held(item: BatchItem) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT state FROM repairs_batch WHERE id = %s FOR SHARE", [item.batch_id])
        return str(cursor.fetchone()[0])


def carry_out(batch: Batch, item: BatchItem) -> tuple[ItemState, str]:
    """A bug met at one case is told there, and keeps no other from its turn."""
    try:
        with transaction.atomic():
            return act(batch, item)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        log.exception("a batch met a bug", batch=batch.name, case=str(item.case_id))
        return ItemState.FAILED, _("An error of the program; its log says which. Nothing was done.")


def finish(batch_id: uuid.UUID) -> None:
    """Ends the batch where nothing of it waits. After the commit: two workers may hold one each of the last two."""
    with transaction.atomic():
        running = Batch.objects.filter(id=batch_id, state=BatchState.RUNNING.value)
        batch = running.select_for_update(no_key=True).first()
        if batch is None or batch.items.filter(state=ItemState.WAITING.value).exists():
            return
        batch.state, batch.ended_at = BatchState.DONE.value, rows.now()
        note(batch, "done", by="engine", before=BatchState.RUNNING)


def sweep() -> None:
    """Each minute: goes on with what no task is at, ends what nobody answered, drops drafts that nobody asked for."""
    now = rows.now()
    for batch in Batch.objects.filter(state=BatchState.ASKED.value, asked_at__lt=now - ASKED_FOR)[:100]:
        unanswered(batch)
    drafts = Batch.objects.filter(state=BatchState.DRAFT.value, made_at__lt=now - DRAFTS_KEPT)
    drafts.filter(id__in=list(drafts.values_list("id", flat=True)[:100])).delete()
    running = list(Batch.objects.filter(state=BatchState.RUNNING.value).values_list("id", flat=True)[:100])
    for batch_id in running:
        finish(batch_id)
    if Batch.objects.filter(id__in=running, state=BatchState.RUNNING.value).exists():
        queue.later(TASK)


def unanswered(batch: Batch) -> None:
    with transaction.atomic():
        held = Batch.objects.select_for_update(no_key=True).get(id=batch.id)
        if held.state == BatchState.ASKED:
            held.state, held.ended_at = BatchState.DECLINED.value, rows.now()
            note(held, "expire", by="engine", before=BatchState.ASKED)

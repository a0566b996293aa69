"""What people do to a batch: ask for it, confirm or decline it, stop it, let it go on. Each is kept in its history."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from django.contrib.auth.models import User
from django.db import transaction

from repairs.acts import glass as glasses
from repairs.acts.door import actor, needs
from repairs.bulk.given import given
from repairs.bulk.seen import team_of
from repairs.models import Batch
from repairs.models.batch import BatchAct, BatchState
from repairs.models.glass import Broken
from repairs.notices import telling
from repairs.roles import APPROVER, REPAIRER
from repairs.words.batch import NAMES
from repairs.words.marked import _
from workflows import journal, queue, rows
from workflows.authority import four_eyes
from workflows.errors import Denied, StaleFence
from workflows.why import reason

S = BatchState
TASK = "repairs.bulk.running.run"  # by its dotted path: it imports this file


def ask(
    batch_id: uuid.UUID,
    *,
    by: User,
    why: str,
    digest: str,
    alone: bool = False,
    glass: bool = False,
    typed: Mapping[str, str] | None = None,
) -> Batch:
    """Has what was shown carried out, or asks a second person where it is large. Asked for again, nothing happens.
    `typed`: what the act has to know beside its reason. `alone`: by one person where it takes two, because the
    installation allows it, or they break the glass (`acts.glass`): its review is kept in the same commit.

    Raises `Denied`, `Invalid`, `StaleFence` where the page showed another list."""
    needs(by, REPAIRER)
    why = reason(why)
    with transaction.atomic():
        batch = locked(batch_id)
        if digest != batch.digest:
            raise StaleFence(_("This page shows another list than the batch holds; open it anew."))
        if batch.by_id != by.pk:
            raise Denied(_("{by} chose these cases; choose them yourself to act on them.", by=batch.by.get_username()))
        if batch.state != S.DRAFT:
            return batch
        if alone and glass:
            glasses.may(by)
        if alone and not four_eyes.one_may(glass=glass and batch.needs_second):
            raise Denied(_("This installation asks for two people (FOUR_EYES=required); ask a second person."))
        batch.why, batch.asked_at = why, rows.now()
        batch.given = given(BatchAct(batch.act), typed or {}, batch.asked_at)
        batch.alone = batch.needs_second and alone
        broken = batch.alone and glass
        moved(batch, S.ASKED if batch.needs_second and not alone else S.RUNNING, "ask", by, why, glass=broken)
        if broken:
            glasses.broke(Broken.BATCH, batch.id, done_alone(batch), by=by, why=why, team=team_of(batch))
        if batch.state == S.ASKED:
            telling.of_batch(batch)
    return batch


def confirm(batch_id: uuid.UUID, *, by: User, why: str, digest: str) -> Batch:
    """A second person's yes to exactly this list. Raises `Denied`, `Invalid`, `StaleFence`."""
    needs(by, APPROVER)
    why = reason(why)
    with transaction.atomic():
        batch = locked(batch_id)
        if batch.by_id == by.pk:
            raise Denied(_("{by} asked for this; another person must confirm it.", by=by.get_username()))
        if batch.state != S.ASKED or digest != batch.digest:
            raise StaleFence(_("This batch waits for nobody's word any more, or is another list than the page showed."))
        batch.second = by
        moved(batch, S.RUNNING, "confirm", by, why)
    return batch


def decline(batch_id: uuid.UUID, *, by: User, why: str) -> Batch:
    """A second person's no, or the asker's own second thought."""
    batch = Batch.objects.filter(id=batch_id).first()
    if batch is None or batch.by_id != by.pk:
        needs(by, APPROVER)
    why = reason(why)
    with transaction.atomic():
        batch = locked(batch_id)
        if batch.state != S.ASKED:
            raise StaleFence(_("This batch waits for nobody's word any more."))
        batch.second = None if batch.by_id == by.pk else by
        batch.ended_at = rows.now()
        moved(batch, S.DECLINED, "decline", by, why)
    return batch


def stop(batch_id: uuid.UUID, *, by: User) -> Batch:
    """When it has returned, no further case is acted on. Whoever may repair may stop."""
    needs(by, REPAIRER)
    with transaction.atomic():
        batch = locked(batch_id)
        if batch.state != S.RUNNING:
            raise StaleFence(_("{name} isn't running any more.", name=batch.name))
        moved(batch, S.STOPPED, "stop", by, "")
    return batch


def resume(batch_id: uuid.UUID, *, by: User) -> Batch:
    """Goes on with the cases that nobody has met yet; they are still taken only as they were chosen."""
    needs(by, REPAIRER)
    with transaction.atomic():
        batch = locked(batch_id)
        if batch.state != S.STOPPED:
            raise StaleFence(_("{name} isn't stopped.", name=batch.name))
        if batch.by_id != by.pk:
            raise Denied(_("{by} asked for it and can let it go on.", by=batch.by.get_username()))
        moved(batch, S.RUNNING, "resume", by, "")
    return batch


def locked(batch_id: uuid.UUID) -> Batch:
    return Batch.objects.select_related("by").select_for_update(of=("self",), no_key=True).get(id=batch_id)


def done_alone(batch: Batch) -> str:
    cases = "1 case" if batch.count == 1 else f"{batch.count} cases"
    return f"let {batch.name} go ({NAMES[batch.act][0]}, {cases}), which nobody confirmed"


def moved(batch: Batch, state: BatchState, event: str, by: User, why: str, *, glass: bool = False) -> None:
    before, batch.state = batch.state, state.value
    note(batch, event, by=actor(by), before=before, why=why, glass=glass)
    if state == S.RUNNING:
        transaction.on_commit(lambda: queue.later(TASK))


def note(batch: Batch, event: str, *, by: str, before: str, why: str = "", glass: bool = False) -> None:
    """Saves the batch with an entry in its own chain of the journal."""
    words = {"why": why, "digest": batch.digest, "count": batch.count, "act": batch.act, "given": batch.given}
    payload = {name: value for name, value in {**words, "alone": batch.alone, "glass": glass}.items() if value}
    moment = rows.now()
    made = journal.chain(
        [
            journal.Event(
                subject=batch,
                kind="batch",
                run_id=None,
                event=event,
                before=before,
                after=batch.state,
                actor=by,
                payload=payload,
            )
        ],
        at=moment,
    )
    batch.save()
    journal.write(made)

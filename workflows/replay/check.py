"""Rebuilds everything of one run from its entries and compares it with its rows. Called by `replay RUN --check`."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator

from django.db import connection, transaction
from django.db.models import Count

from workflows import proof
from workflows.errors import NotFound
from workflows.models import Attempt, Effect, Run
from workflows.proof import Flaw
from workflows.replay import rebuild
from workflows.replay.rebuild import Rebuilt

KINDS = ("run", "effect")  # a case's history is the repairs' own


def check(run_id: uuid.UUID) -> tuple[proof.Summary, list[Flaw]]:
    """How much was read, and everything in which rows, entries and chains differ. Raises `NotFound`."""
    summary = proof.Summary()
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        run = Run.objects.filter(id=run_id).first()
        if run is None:
            raise NotFound(f"there is no run {run_id}")
        flaws = list(_check(run, summary))
    summary.flaws = len(flaws)
    return summary, flaws


def _check(run: Run, summary: proof.Summary) -> Iterator[Flaw]:
    effects = {effect.id: effect for effect in Effect.objects.filter(run=run)}
    sends = dict(
        Attempt.objects.filter(effect__run=run).order_by().values_list("effect").annotate(n=Count("id")).iterator()
    )
    seen = set()
    for subject, group in itertools.groupby(proof.all_written(run.id), key=lambda one: one.entry["subject_id"]):
        written = list(group)
        entries = [one.entry for one in written]
        if entries[0]["subject_kind"] not in KINDS and subject not in effects:
            continue
        summary.subjects += 1
        seen.add(subject)
        if subject == run.id:
            yield from proof.chain(proof.Head("run", run.id, run.seq, run.head), subject, written, summary)
            yield from _told("run", subject, rebuild.run(entries), {"state": run.phase})
        elif (effect := effects.get(subject)) is not None:
            head = proof.Head("effect", effect.id, effect.seq, effect.head)
            yield from proof.chain(head, subject, written, summary)
            row = {"state": effect.state, "world": effect.world, "fence": effect.fence, "sends": sends.get(subject, 0)}
            yield from _told("effect", subject, rebuild.effect(entries), row)
        else:
            yield from proof.chain(None, subject, written, summary)
    for subject in {run.id, *effects} - seen:
        yield Flaw("run" if subject == run.id else "effect", str(subject), 0, "it has a row, but no entry tells of it")


def _told(kind: str, subject: uuid.UUID, built: Rebuilt, row: dict[str, object]) -> Iterator[Flaw]:
    for seq, what in built.trouble:
        yield Flaw(kind, str(subject), seq, what)
    for name, value in row.items():
        if getattr(built, name) != value:
            word = "phase" if (kind, name) == ("run", "state") else name
            yield Flaw(
                kind, str(subject), 0, f"{word} is {value!r} in its row, {getattr(built, name)!r} by its entries"
            )

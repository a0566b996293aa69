"""What the drain does when a set write fails: repeats what lost a race, singles out the row that spoils the others."""

from __future__ import annotations

import traceback
from typing import Any

from django.db import DataError, IntegrityError, OperationalError
from psycopg import errors as pg

from workflows import rows
from workflows.engine import record, set_aside
from workflows.engine.advance import BATCH, advance
from workflows.models import Effect, Run, Wake
from workflows.outcomes import Outcome, Unknown

REPEATS = 5  # of a transaction that lost against another
# What one row can do to all that are written with it. An outage is none of these: it ends the drain.
SINGLE_OUT = (DataError, IntegrityError, ValueError, TypeError, KeyError, AttributeError, LookupError, RuntimeError)


def again(verb: Any, *args: Any, **options: Any) -> Any:
    """Repeats a transaction that lost against another; never used around a call."""
    for left in reversed(range(REPEATS)):
        try:
            return verb(*args, **options)
        except OperationalError as error:
            if left == 0 or not isinstance(error.__cause__, pg.DeadlockDetected | pg.SerializationFailure):
                raise
    raise AssertionError


def advance_one_by_one(limit: int = BATCH) -> int:
    """Advances up to `limit` due runs, each in a transaction of its own; returns how many were met."""
    woken = Wake.objects.order_by("at").values_list("run_id", flat=True)[:limit]
    timed = Run.objects.filter(advance_at__lte=rows.now()).order_by("advance_at").values_list("id", flat=True)[:limit]
    due = dict.fromkeys([*woken, *timed])
    for run_id in due:
        try:
            again(advance, 1, only=run_id)
        except SINGLE_OUT:
            set_aside.aside(run_id, traceback.format_exc())
    return len(due)


def record_all(answered: list[tuple[Effect, Outcome]], *, looks: int = 0) -> list[Effect]:
    """An answer that can't be stored must not take the others with it, nor be lost: nobody knows what it said.

    Returns up to `looks` effects to be looked at at once."""
    if not answered:
        return []
    try:
        mine: list[Effect] = again(record.record, answered, looks=looks)
        return mine
    except SINGLE_OUT:
        for effect, outcome in answered:
            try:
                again(record.record, [(effect, outcome)])
            except SINGLE_OUT as trouble:
                reason = f"its answer could not be stored: {type(trouble).__name__}"
                again(record.record, [(effect, Unknown(reason=reason))])
        return []

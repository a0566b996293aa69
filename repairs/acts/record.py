"""Writes an act: its row, and its entry in the case's own journal chain. Inside the act's transaction."""

from __future__ import annotations

import contextlib
import datetime as dt
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from repairs import worked
from repairs.acts.door import actor
from repairs.acts.evidence import Given, keep
from repairs.models import Act, Case
from repairs.models.act import ActKind, Outcome
from workflows import journal, rows
from workflows.errors import MakegoodError


def record(
    case_id: uuid.UUID,
    *,
    kind: ActKind,
    by: User,
    why: str,
    outcome: Outcome,
    now: dt.datetime,
    **more: Any,
) -> Act:
    """`more`: further columns of the act, and `given`: evidence.

    The case is read again: the engine's verb may have moved it meanwhile."""
    case = Case.objects.select_for_update().get(id=case_id)
    given: Sequence[Given] = more.pop("given", ())
    kept = [one.facts for one in given]
    if kept:
        more["facts"] = {**more.get("facts", {}), "evidence": kept}
    act = Act(case=case, kind=kind.value, by=by, why=why, outcome=outcome.value, at=now, **more)
    event = journal.Event(
        subject=case,
        kind="case",
        run_id=case.run_id,
        event=kind.value,
        before=case.was_state,
        after=case.state,
        fence=case.fence,
        actor=actor(by),
        payload=words(act),
    )
    made = journal.chain([event], at=now)
    case.changed_at = now
    case.save(update_fields=["seq", "head", "changed_at"])
    act.save(force_insert=True)
    keep(act, given, kept)
    worked.note(case.id, by.pk)
    journal.write(made)
    return act


def words(act: Act) -> dict[str, Any]:
    found: dict[str, Any] = {"act": str(act.id), "why": act.why, "outcome": act.outcome, "detail": act.detail}
    if act.effect_id:
        found["effect"] = str(act.effect_id)
    if act.second:
        found["proposed_by"] = act.second.get_username()
    if evidence := act.facts.get("evidence"):
        found["evidence"] = [one["sha256"] for one in evidence]
    if act.alone:
        found["alone"] = True
    return {name: value for name, value in found.items() if value}


@contextlib.contextmanager
def refusal_kept(
    case_id: uuid.UUID, *, kind: ActKind, by: User, why: str, effect_id: uuid.UUID | None = None
) -> Iterator[None]:
    """One transaction for the act. What is refused inside changes nothing, and that it was asked for is kept.

    Only refusals of the engine are kept (`Refusal`); a missing reason or a lost claim is the person's to mend.
    """
    try:
        with transaction.atomic():
            yield
    except Refusal as refusal:
        with transaction.atomic():
            known = {"effect_id": effect_id, "detail": refusal.error.detail}
            record(case_id, kind=kind, by=by, why=why, outcome=Outcome.REFUSED, now=rows.now(), **known)
        raise refusal.error from refusal


class Refusal(Exception):
    """The engine's verb said no."""

    def __init__(self, error: MakegoodError) -> None:
        self.error = error
        super().__init__(error.detail)


@contextlib.contextmanager
def engine() -> Iterator[None]:
    """Around the one call of an engine verb: tells its refusals from our own."""
    try:
        yield
    except MakegoodError as error:
        raise Refusal(error) from error

"""What people write beside a case: facts, guesses and what became of them, and whom they told what. Asks nothing of the
engine and needs no claim: whoever knows something says it."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from repairs.acts.door import lock, needs, renew
from repairs.acts.evidence import Given
from repairs.acts.record import record
from repairs.models import Act
from repairs.models.act import ActKind, Outcome
from repairs.roles import REPAIRER
from repairs.words.marked import _
from workflows.errors import Flaw, Invalid, NotFound, StaleFence
from workflows.visible import is_hidden
from workflows.why import reason

HOW = {
    "mail": _("by mail"),
    "phone": _("by phone"),
    "person": _("in person"),
    "chat": _("by chat"),
    "post": _("by post"),
}
TWICE = dt.timedelta(seconds=10)  # in which a form comes again by a second click; who says it again later means it
WHOM = 100  # characters of who was told
VERDICTS = {True: ActKind.CONFIRM, False: ActKind.REFUTE}


def note(
    case_id: uuid.UUID,
    *,
    kind: ActKind,
    by: User,
    text: str,
    whom: str = "",
    how: str = "",
    given: Sequence[Given] = (),
) -> None:
    """`kind`: fact, guess or told; of the last `whom` and `how`. Raises `Denied`, `Invalid`, `NotFound`."""
    needs(by, REPAIRER)
    text = reason(text)
    told = {"whom": named(whom), "how": how_of(how)} if kind == ActKind.TOLD else {}
    with transaction.atomic():
        write(case_id, kind, by, text, facts=told, given=given)


def judge(case_id: uuid.UUID, guess_id: uuid.UUID, *, right: bool, by: User, text: str, given: Sequence[Given]) -> None:
    """Says of a guess that it was right or wrong, once. Raises `Denied`, `Invalid`, `NotFound`, `StaleFence`."""
    needs(by, REPAIRER)
    text = reason(text)
    with transaction.atomic():
        lock(case_id)
        guess = Act.objects.filter(id=guess_id, case=case_id, kind=ActKind.GUESS.value).first()
        if guess is None:
            raise NotFound(_("There is no such guess on this case."))
        if Act.objects.filter(answers=guess).exists():
            raise StaleFence(_("Somebody has confirmed or refuted this guess already."))
        write(case_id, VERDICTS[right], by, text, answers=guess, given=given)


def write(case_id: uuid.UUID, kind: ActKind, by: User, text: str, **more: Any) -> None:
    """The row of what was written; of a button pressed twice, one. Of the holder it is work on the case, and keeps it
    theirs."""
    case, now = lock(case_id)
    last = Act.objects.filter(case=case, by=by, at__gt=now - TWICE).order_by("-id").first()
    if last is not None and (last.kind, last.why) == (kind, text) and same(last, **more):
        return
    if case.holder_at(now) == by.pk:
        renew(case, now)
    record(case.id, kind=kind, by=by, why=text, outcome=Outcome.DONE, now=now, **more)


def same(
    last: Act,
    *,
    facts: dict[str, Any] | None = None,
    given: Sequence[Given] = (),
    answers: Act | None = None,
    **_: object,
) -> bool:
    """Whether it says the same of the same, shown by the same evidence."""
    known = {name: value for name, value in last.facts.items() if name != "evidence"}
    kept = [one["sha256"] for one in last.facts.get("evidence", ())]
    of = answers.id if answers else None
    return (known, last.answers_id) == (facts or {}, of) and kept == [one.facts["sha256"] for one in given]


def named(whom: str) -> str:
    """Who was told. Raises `Invalid`."""
    name = " ".join(whom.replace("\x00", "").split())
    if all(is_hidden(char) or char.isspace() for char in name) or len(name) > WHOM:
        raise Invalid(
            _("Say who was told."), [Flaw("whom", whom[:80], _("needs 1 to {most} visible characters", most=WHOM))]
        )
    return name


def how_of(how: str) -> str:
    if how not in HOW:
        raise Invalid(
            _("Say how they were told."), [Flaw("how", how[:80], _("is none of {choices}", choices=", ".join(HOW)))]
        )
    return how

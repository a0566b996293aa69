"""Short ways to a batch and to what became of it."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from django.contrib.auth.models import User

from repairs import worklist
from repairs.acts import bulk
from repairs.bulk import choosing, standing
from repairs.desk import desk_for
from repairs.models import Batch, Case
from repairs.models.batch import BatchAct
from workflows import rows

CAUSE = worklist.Choice(cause="crm.contact v1: refused, undoing")
HELD = worklist.Choice(cause="mail.notify: hold")


def of_cause(user: User, act: BatchAct = BatchAct.LOOK_AGAIN, cause: worklist.Choice = CAUSE) -> Batch:
    desk = desk_for(user)
    view = worklist.view_of("all")
    assert view
    return choosing.freeze(desk, act, choosing.matching(desk, view, cause, rows.now()), "all of one cause")


def asked(batch: Batch, by: User, *, why: str = "the CRM is back", **more: Any) -> Batch:
    return bulk.ask(batch.id, by=by, why=why, digest=batch.digest, **more)


def states(batch: Batch) -> Counter[str]:
    return Counter(batch.items.values_list("state", flat=True))


def said(batch: Batch, case: Case) -> str:
    return str(batch.items.get(case=case).said)


def confirmed(batch: Batch, by: User, second: User) -> Batch:
    """Asked for by one and confirmed by the other."""
    asked(batch, by)
    return bulk.confirm(batch.id, by=second, why="read them all", digest=batch.digest)


def figures(batch: Batch, *, whole: bool = True) -> Counter[str]:
    """How many cases there are of each word, as its page counts them."""
    batch = Batch.objects.get(id=batch.id)
    return Counter(line.kind for line in standing.lines(batch, batch.items.all(), rows.now(), whole=whole))


def text_of(page: Any) -> str:
    """What is read of it, without marks."""
    return " ".join(re.sub(r"<[^>]+>", "", page.content.decode()).split())


class Killed(BaseException):
    """Nothing catches it, as nothing catches a SIGKILL."""

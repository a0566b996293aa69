"""A person's word on what policy asks about: approve exactly what was shown, refuse it, or take an approval back.

What the page showed travels in a signed note: whose page, when it was opened, the digest, the target's read, and
whether the whole text was there. Nobody approves what they were not shown.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import uuid
from collections.abc import Callable

from django.contrib.auth.models import User
from django.contrib.sessions.backends.base import SessionBase
from django.core import signing
from django.db import transaction

from repairs.words.check import check
from repairs.words.exact import exact
from repairs.words.marked import _
from workflows import rows
from workflows.authority import approvals
from workflows.authority.approvals import Vote
from workflows.errors import Denied, Flaw, Invalid, StaleFence
from workflows.models import Approval
from workflows.why import reason

SALT = "approval-page"
PAGE_LASTS = dt.timedelta(hours=8)  # a page left open over night is read anew
FRESH = dt.timedelta(minutes=10)  # how old the read of a target may be when somebody approves on it


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a page showed to whom. `read_at`: when the target had been read, "" for never; `whole`: nothing was cut."""

    approval: uuid.UUID
    user: int
    digest: str
    opened_at: dt.datetime
    read_at: str
    whole: bool

    def note(self) -> str:
        facts = [str(self.approval), self.user, self.digest, self.opened_at.isoformat(), self.read_at, self.whole]
        return signing.dumps(facts, salt=SALT)


def seen_of(note: str, approval_id: uuid.UUID, by: User) -> Seen:
    """Raises `Invalid` for a note of another page, another person, or from long ago."""
    try:
        approval, user, digest, opened, read_at, whole = signing.loads(note, salt=SALT, max_age=PAGE_LASTS)
        seen = Seen(
            approval=uuid.UUID(approval),
            user=user,
            digest=digest,
            opened_at=dt.datetime.fromisoformat(opened),
            read_at=read_at,
            whole=whole,
        )
    except (signing.BadSignature, ValueError, TypeError) as error:
        raise Invalid(_("This form is not whole or too old; open the page anew.")) from error
    if (seen.approval, seen.user) != (approval_id, by.pk):
        raise Invalid(_("This form was made for another page or another person; open the page anew."))
    return seen


def approve(
    approval_id: uuid.UUID,
    *,
    by: User,
    session: SessionBase,
    why: str,
    note: str,
    answer: str,
    unread: bool = False,
    glass: bool = False,
) -> Vote:
    """`answer`: to the check question. `unread`: the person knows that the target could not be read. `glass`: another
    should decide, and it can't wait (`acts.glass`).

    Raises `Invalid`, `Denied`, `StaleFence`, `NotFound`; then nothing is decided."""
    why = reason(why)
    seen = seen_of(note, approval_id, by)

    def say(person: User) -> Vote:
        approval = Approval.objects.select_related("effect").filter(id=approval_id).first()
        if approval is not None:
            was_shown(approval, seen)
            target_is_fresh(approval, seen, unread=unread)
            answered(approval, answer)
        return approvals.vote(
            approval_id, by=person, why=why, seen_digest=seen.digest, opened_at=seen.opened_at, glass=glass
        )

    return as_person(by, session, say)


def refuse(approval_id: uuid.UUID, *, by: User, session: SessionBase, why: str, note: str) -> Vote:
    """A no needs no more than its reason: what it stops is not sent."""
    why = reason(why)
    seen = seen_of(note, approval_id, by)
    return as_person(
        by,
        session,
        lambda person: approvals.refuse(
            approval_id, by=person, why=why, seen_digest=seen.digest, opened_at=seen.opened_at
        ),
    )


def take_back(approval_id: uuid.UUID, *, by: User, session: SessionBase, why: str) -> Vote:
    why = reason(why)
    return as_person(by, session, lambda person: approvals.revoke(approval_id, by=person, why=why))


def as_person(by: User, session: SessionBase, say: Callable[[User], Vote]) -> Vote:
    """Says it as who is logged in at this moment: read anew, in the transaction that decides."""
    with transaction.atomic():
        person = User.objects.filter(pk=by.pk, is_active=True, is_staff=True).first()
        if person is None or not session.session_key or not session.exists(session.session_key):
            raise Denied(_("You are logged out; log in and decide again. Nothing was decided."))
        return say(person)


def was_shown(approval: Approval, seen: Seen) -> None:
    """Nobody approves a call of which a part was cut from the page."""
    if approval.digest != seen.digest:
        raise StaleFence(_("What is asked has changed since this page was opened; read it again before you approve."))
    call = exact(approval.fields.get("arguments"))
    if call.too_long:
        long = _("The call has {size} characters, more than anybody can check here; it can be refused.", size=call.size)
        raise Invalid(long)
    if call.cut and not seen.whole:
        raise Invalid(_("Part of the call was cut from the page. Open the full text, read it, then approve."))


def target_is_fresh(approval: Approval, seen: Seen, *, unread: bool) -> None:
    """What the person saw of the target must be the last that was read of it, and not old."""
    if read_at(approval) != seen.read_at:
        raise StaleFence(
            _("The target was read again since this page was opened; see what it showed before you approve.")
        )
    target = approval.target or {}
    failed = target.get("failed")
    if failed and failed.get("by") != "nothing" and not unread:
        raise Invalid(_("The target could not be read. Read it again, or say that you approve without having seen it."))
    if failed or not target.get("at"):
        return
    age = rows.now() - dt.datetime.fromisoformat(target["at"])
    if age > FRESH:
        raise StaleFence(
            _(
                "The target was last read {minutes} min ago; read it again before you approve.",
                minutes=round(age.total_seconds() / 60),
            )
        )


def read_at(approval: Approval) -> str:
    """When the target was last read, or tried to be; "" for never."""
    target = approval.target or {}
    return str((target.get("failed") or {}).get("at") or target.get("at") or "")


def answered(approval: Approval, answer: str) -> None:
    asks = check(approval.question, approval.digest)
    if asks and not answer:
        raise Invalid(_("Answer the check question before you approve."), [Flaw("answer", answer, _("is empty"))])
    if asks and answer != asks.answer:
        raise Invalid(_("That is not what would be sent. Read the exact call again; nothing was decided."))

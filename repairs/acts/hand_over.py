"""Handing a case to another person, who reads it back before it is theirs; until then it stays with the sender."""

from __future__ import annotations

import datetime as dt
import uuid

from django.contrib.auth.models import User
from django.db import transaction

from repairs import presence, reading
from repairs.acts.claim import take
from repairs.acts.door import LEASE, enter, lock, needs
from repairs.acts.record import record
from repairs.colleagues import colleagues
from repairs.models import Act, Case
from repairs.models.act import ActKind, Outcome
from repairs.notices import telling
from repairs.roles import REPAIRER
from repairs.words.handing import SEVERITIES, summary
from repairs.words.marked import _
from workflows.errors import Denied, Flaw, Invalid, StaleFence
from workflows.visible import is_hidden
from workflows.why import reason

LASTS = dt.timedelta(hours=12)  # a shift: so long the case stays with who handed it over, though they went home
LONGEST = 2000  # characters of each text


def hand_over(
    case_id: uuid.UUID, *, by: User, to: str, severity: str, situation: str, contingency: str, fence: int
) -> None:
    """`situation`: what is going on; `contingency`: if this happens, do that. The summary is made from the ledger.

    Raises `Invalid`, `Denied`, `StaleFence`."""
    needs(by, REPAIRER)
    flaws = (
        []
        if severity in SEVERITIES
        else [Flaw("severity", severity, _("must be one of {choices}", choices=", ".join(SEVERITIES)))]
    )
    told = {"severity": severity, **texts(flaws, situation=situation, contingency=contingency)}
    with transaction.atomic():
        case, now = enter(case_id, by=by, fence=fence)
        if case.handed_to_id is not None:
            raise StaleFence(
                _("{name} is being handed over already; withdraw that before you hand it to another.", name=case.name)
            )
        if to not in colleagues(case, by):
            raise Invalid(
                _("Nobody was handed anything."), [Flaw("to", to, _("must be another repairer who sees this case"))]
            )
        case.handed_to = User.objects.get(username=to)
        case.lease_until = now + LASTS
        case.save(update_fields=["handed_to", "lease_until"])
        facts = {"to": to, **told, "summary": summary_of(case)}
        known = {"detail": f"to {to}: {SEVERITIES[severity]}", "facts": facts}
        act = record(
            case.id,
            kind=ActKind.HAND_OVER,
            by=by,
            why=in_a_line(told["situation"]),
            outcome=Outcome.PROPOSED,
            now=now,
            **known,
        )
        telling.of_hand_over(case, act.id)


def accept(case_id: uuid.UUID, *, by: User, synthesis: str, as_of: str) -> None:
    """The receiver's own words of what they were told; with them the claim is theirs.

    `as_of`: the point of the histories that the page showed. Raises `Invalid`, `Denied`, `StaleFence`."""
    needs(by, REPAIRER)
    flaws: list[Flaw] = []
    synthesis = texts(flaws, synthesis=synthesis)["synthesis"]
    with transaction.atomic():
        case, now = lock(case_id)
        act = pending(case)
        if case.handed_to_id != by.pk:
            raise Denied(_("{name} is not handed to you.", name=case.name))
        if as_of != case.as_of:
            raise StaleFence(_("{name} changed while you read; read what is new, then accept.", name=case.name))
        if squeezed(synthesis) in (squeezed(act.facts["situation"]), squeezed(act.facts["contingency"])):
            raise Invalid(
                _("Say it in your own words."),
                [Flaw("synthesis", synthesis[:80], _("is what you were told, word for word"))],
            )
        take(case, by=by, now=now, kind=ActKind.ACCEPT, why=in_a_line(synthesis), answers=act)
        presence.tell(case.id, user=act.by_id, by=by, how="accepted", now=now)


def decline(case_id: uuid.UUID, *, by: User, why: str) -> None:
    """By the receiver, who says why; or withdrawn by who hands it over. It stays where it was."""
    why = reason(why)
    with transaction.atomic():
        case, now = lock(case_id)
        act = pending(case)
        if by.pk not in (case.handed_to_id, act.by_id):
            raise Denied(_("{name} is not handed to you, nor by you.", name=case.name))
        case.handed_to = None
        if case.claimed_by_id is not None and case.lease_until is not None:
            case.lease_until = min(case.lease_until, now + LEASE)
        case.save(update_fields=["handed_to", "lease_until"])
        kind = ActKind.WITHDRAW_HAND_OVER if by.pk == act.by_id else ActKind.DECLINE_HAND_OVER
        record(case.id, kind=kind, by=by, why=why, outcome=Outcome.DONE, now=now, answers=act)
        if kind == ActKind.DECLINE_HAND_OVER:
            presence.tell(case.id, user=act.by_id, by=by, how="declined", now=now)


def pending(case: Case) -> Act:
    """The hand-over that waits for its receiver. Raises `StaleFence` where none does."""
    found = Act.objects.filter(case=case, kind=ActKind.HAND_OVER.value, answer__isnull=True)
    act = found.select_related("by").order_by("-id").first() if case.handed_to_id is not None else None
    if act is None:
        raise StaleFence(_("{name} is not being handed over any more.", name=case.name))
    return act


def summary_of(case: Case) -> list[str]:
    effects = reading.effects_of([case.run_id])[case.run_id]
    ids = [effect.id for effect in effects]
    facts = reading.facts_of(case.run, effects, reading.last_looks(ids), reading.last_sends(ids))
    return summary(facts, reading.reasons_of(case.run), case.deadline, case.cutoff, case.cutoff_reason)


def texts(flaws: list[Flaw], **given: str) -> dict[str, str]:
    """The texts without what can't be seen at their ends. Raises `Invalid` with all that is wrong with the form."""
    given = {name: text.replace("\r\n", "\n") for name, text in given.items()}  # browsers end lines so
    for name, text in given.items():
        if all(is_hidden(char) or char.isspace() for char in text):
            flaws.append(Flaw(name, text[:80], _("says nothing")))
        elif len(text) > LONGEST or "\x00" in text:
            flaws.append(Flaw(name, text[:80], _("must be at most {most} characters, none of them NUL", most=LONGEST)))
    if flaws:
        raise Invalid(_("Nothing was handed over."), flaws)
    return {name: text.strip() for name, text in given.items()}


def in_a_line(text: str) -> str:
    """As histories show what people say; the hand-over itself keeps its lines."""
    return " ".join(text.split())


def squeezed(text: str) -> str:
    return in_a_line(text).casefold()

"""What every act passes first: a reason, a role, and the case's claim. Locks run, then case, as the ledger does."""

from __future__ import annotations

import datetime as dt
import uuid

from django.contrib.auth.models import User

from repairs.desk import Desk
from repairs.models import Case
from repairs.roles import roles_of
from repairs.words import clock
from repairs.words.marked import _
from repairs.words.marks import mark
from workflows import rows
from workflows.errors import Denied, NotFound, StaleFence
from workflows.models import Effect, Run


def needs(user: User, role: str) -> None:
    """Raises `Denied` where the person doesn't have the role now, whatever the page showed them."""
    if role not in roles_of(user):
        raise Denied(_("{user} is not in the role {role}; an admin can give it.", user=user.get_username(), role=role))


def needs_some(desk: Desk, roles: frozenset[str], what: str) -> None:
    """Raises `Denied` where the person has none of these roles."""
    if not desk.roles & roles:
        raise Denied(_("Only people in the role {roles} may {what}.", roles=" or ".join(sorted(roles)), what=what))


def actor(user: User) -> str:
    """How the journal names a person; an agent of the same name stays apart."""
    return f"person:{user.get_username()}"[:100]


def enter(case_id: uuid.UUID, *, by: User, fence: int) -> tuple[Case, dt.datetime]:
    """The live case, locked after its run, with its claim in the hands of `by`, renewed or taken now.

    `fence`: the claim's number as the person's page showed it. Raises `StaleFence` where somebody else holds the case,
    or it changed hands since.
    """
    from repairs.acts.claim import take

    case, now = lock(case_id)
    if not case.live:
        raise StaleFence(
            _(
                "{name} is {state} by now; there is nothing left to do.",
                name=case.name,
                state=mark("case", case.state).word,
            )
        )
    holder = case.holder_at(now)
    if holder == by.pk:
        if fence < case.fence - 1:  # one less is the page from which they took it
            raise StaleFence(OTHER_HANDS.format(case.name))
        renew(case, now)
        return case, now
    if holder is not None:
        raise StaleFence(held(case))
    if fence != case.fence:
        raise StaleFence(OTHER_HANDS.format(case.name))
    take(case, by=by, now=now)
    return case, now


OTHER_HANDS = "{} was in other hands since you opened this page; read it again before you act."
LEASE = dt.timedelta(
    minutes=15
)  # long enough to think and to call somebody, short enough that a lost holder blocks none


def renew(case: Case, now: dt.datetime) -> None:
    """For the locked case's holder; what is being handed over is held for longer already."""
    case.lease_until = max(case.lease_until or now, now + LEASE)
    case.save(update_fields=["lease_until"])


def lock(case_id: uuid.UUID) -> tuple[Case, dt.datetime]:
    run_id = Case.objects.filter(id=case_id).values_list("run_id", flat=True).first()
    if run_id is None:
        raise NotFound(_("There is no such case."))
    Run.objects.select_for_update().get(id=run_id)
    case = Case.objects.select_related("claimed_by").select_for_update(of=("self",)).get(id=case_id)
    return case, rows.now()


def held(case: Case) -> str:
    assert case.claimed_by is not None
    assert case.lease_until is not None
    until = clock.said(case.lease_until, "%H:%M")
    return _("{who} holds {name} until {until}.", who=case.claimed_by.get_username(), name=case.name, until=until)


def stuck_effect(case: Case, effect_id: uuid.UUID) -> Effect:
    """The effect of this case's run that the act is about. Raises `NotFound` for any other."""
    effect = Effect.objects.filter(id=effect_id, run=case.run_id).first()
    if effect is None:
        raise NotFound(_("{name} has no such effect.", name=case.name))
    return effect

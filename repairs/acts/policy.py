"""People's part in policies: who may draft, try, activate and discard them. The engine's verbs say what is sound."""

from __future__ import annotations

import datetime as dt
import uuid

from repairs.acts import glass as glasses
from repairs.acts.door import actor, needs_some
from repairs.desk import Desk
from repairs.roles import APPROVER, AUTHOR, OPERATOR
from repairs.words.marked import _
from workflows.authority import dry_run, policies
from workflows.authority.until import moment_of
from workflows.errors import Flaw, Invalid
from workflows.models import Policy
from workflows.why import reason

MAY_DRAFT = frozenset({OPERATOR, AUTHOR})
MAY_ACTIVATE = frozenset({OPERATOR, APPROVER})


def draft(desk: Desk, text: str, *, why: str) -> Policy:
    """Raises `Denied`, `Invalid` with flaws that name their lines."""
    needs_some(desk, MAY_DRAFT, _("draft a policy"))
    return policies.draft(text.replace("\r\n", "\n"), by=actor(desk.user), why=reason(why))


def attempt(desk: Desk, policy_id: uuid.UUID) -> dry_run.DryRun:
    """Tries a draft on past decisions. Nothing is sent."""
    needs_some(desk, MAY_DRAFT | MAY_ACTIVATE, _("try a policy"))
    return dry_run.dry_run(policy_id, by=actor(desk.user))


def activate(desk: Desk, policy_id: uuid.UUID, *, at: str, why: str = "", glass: bool = False) -> Policy:
    """`at`: a moment in UTC as the form gives it, "" for now. `glass`: they drafted it (`acts.glass`), with `why`."""
    needs_some(desk, MAY_ACTIVATE, _("activate a policy"))
    if glass:
        glasses.may(desk.user)
        why = reason(why)
    return policies.activate(policy_id, by=actor(desk.user), at=moment(at), why=why, glass=glass)


def discard(desk: Desk, policy_id: uuid.UUID) -> Policy:
    needs_some(desk, MAY_DRAFT, _("discard a draft"))
    return policies.discard(policy_id, by=actor(desk.user))


DRAFTED_IT = _("You drafted it; another person must activate it.")


def may_not_activate(desk: Desk, draft_: Policy) -> str:
    """Why this person can't; "" where they can."""
    if not desk.roles & MAY_ACTIVATE:
        return _("An operator or an approver activates it.")
    if draft_.drafted_by == actor(desk.user) and not desk.alone:
        return DRAFTED_IT
    return ""


def moment(text: str) -> dt.datetime | None:
    if not text.strip():
        return None
    found = moment_of(text)
    if found is None:
        raise Invalid(_("Nothing was activated."), [Flaw("at", text, _("is no time; write 2026-01-31T08:00"))])
    return found if found.tzinfo else found.replace(tzinfo=dt.UTC)

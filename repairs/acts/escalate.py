"""Asking a role or a team for help with a case, by a person or because its time runs out, and their answer."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import User
from django.db import connection, transaction

from repairs import cases
from repairs.acts.door import lock, needs
from repairs.acts.record import record
from repairs.desk import Desk
from repairs.models import Act, Case
from repairs.models.act import ActKind, Outcome
from repairs.notices import telling
from repairs.roles import APPROVER, MANAGER, OPERATOR, REPAIRER
from repairs.words.marked import _
from repairs.words.marks import mark
from workflows import rows
from workflows.errors import Denied, Flaw, Invalid, StaleFence
from workflows.models import Run, Team
from workflows.why import reason

ROLES = (APPROVER, OPERATOR, MANAGER)  # beside teams; who repairs sees the queue anyway
MOST = 500  # cases a minute; the next sweep takes the next ones

# Which part of a case's time is gone, the event that says so, and whom the engine then asks for help.
STEPS = {50: ("half_gone", ""), 80: ("nearly_gone", APPROVER), 100: ("late", MANAGER)}


def escalate(case_id: uuid.UUID, *, by: User, to: str, why: str) -> None:
    """Whoever holds the case keeps it. `to`: a role or a team. Raises `Invalid`, `Denied`, `StaleFence`."""
    needs(by, REPAIRER)
    why, to = reason(why), to.strip()
    with transaction.atomic():
        case, now = lock(case_id)
        if not case.live:
            raise StaleFence(
                _(
                    "{name} is {state} by now; nobody's help is needed.",
                    name=case.name,
                    state=mark("case", case.state).word,
                )
            )
        if to != case.owner:
            known(to)
        if case.escalated_by_id is not None:
            raise StaleFence(
                _(
                    "{name} is escalated to {escalated_to} already; they have not answered yet.",
                    name=case.name,
                    escalated_to=case.escalated_to,
                )
            )
        case.escalated_to, case.escalated_by = to, by
        case.save(update_fields=["escalated_to", "escalated_by"])
        of = {"detail": f"to {to}", "facts": {"to": to}}
        act = record(case.id, kind=ActKind.ESCALATE, by=by, why=why, outcome=Outcome.PROPOSED, now=now, **of)
        telling.of_escalation(case, act.id)


def known(to: str) -> str:
    """The role or team. Raises `Invalid` where there is none."""
    if to not in ROLES and ("\x00" in to or not Team.objects.filter(name=to).exists()):
        raise Invalid(
            _("There is no such role or team."),
            [Flaw("to", to, _("must be {roles} or a team", roles=", ".join(ROLES)))],
        )
    return to


def answer(case_id: uuid.UUID, *, desk: Desk, why: str) -> None:
    """By one of those who were asked, or whoever asked them. Raises `Denied`, `StaleFence`, `Invalid`."""
    why = reason(why)
    with transaction.atomic():
        case, now = lock(case_id)
        if not case.escalated_to:
            raise StaleFence(_("{name} isn't escalated any more.", name=case.name))
        if not may_answer(case, desk):
            raise Denied(
                _(
                    "It was escalated to {escalated_to}; one of them answers, or whoever asked.",
                    escalated_to=case.escalated_to,
                )
            )
        asked = Act.objects.filter(case=case, kind=ActKind.ESCALATE.value, answer__isnull=True).order_by("-id").first()
        of = {"answers": asked if case.escalated_by_id else None, "detail": f"as {case.escalated_to}"}
        case.escalated_to, case.escalated_by = "", None
        case.save(update_fields=["escalated_to", "escalated_by"])
        record(case.id, kind=ActKind.ANSWER, by=desk.user, why=why, outcome=Outcome.DONE, now=now, **of)


def may_answer(case: Case, desk: Desk) -> bool:
    if not case.escalated_to:
        return False
    if case.escalated_to in ROLES:
        asked = case.escalated_to in desk.roles
    else:
        asked = desk.may_repair and (desk.teams is None or case.escalated_to in desk.teams)
    return asked or case.escalated_by_id == desk.user.pk


def sweep_times() -> int:
    """Live cases of whose time half, four fifths or all is gone since the last sweep; how many. Each minute.

    Receivers are told by `notices.nearing`. A person's escalation stays as it is: they know whom they asked.
    """
    with connection.cursor() as cursor:
        cursor.execute(GONE, {"now": rows.now(), "most": MOST})
        found = {case: (run, part) for case, run, part in cursor.fetchall()}
    if not found:
        return 0
    with transaction.atomic():
        runs = Run.objects.filter(id__in=[run for run, _ in found.values()])
        list(runs.order_by("id").select_for_update().values_list("id"))
        passed = list(Case.objects.live().filter(id__in=found).order_by("id").select_for_update())
        moved = [case for case in passed if case.time_told < found[case.id][1]]
        for case in moved:
            case.time_told = found[case.id][1]
            case.event, to = STEPS[case.time_told]
            if to and case.escalated_by_id is None:
                case.escalated_to = to
        cases.write([], moved, rows.now())
    return len(moved)


# Of its time those hours don't count in which it stood still; while it stands still none of it passes.
GONE = """
SELECT id, run_id, part FROM (
  SELECT id, run_id, time_told, deadline, CASE WHEN deadline <= its_now THEN 100
    WHEN begun + (deadline - begun) * 0.8 <= its_now THEN 80
    WHEN begun + (deadline - begun) * 0.5 <= its_now THEN 50 ELSE 0 END AS part
  FROM repairs_case, LATERAL (SELECT opened_at + paused AS begun, coalesce(paused_since, %(now)s) AS its_now) t
  WHERE state IN ('open', 'waiting') AND time_told < 100) c
WHERE part > time_told ORDER BY deadline LIMIT %(most)s
"""

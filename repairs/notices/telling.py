"""Writes who is to be told, in the transaction of what they are told of. Called by receivers, cases and acts."""

from __future__ import annotations

import dataclasses
import datetime as dt
import uuid
from collections.abc import Iterable, Sequence

from django.conf import settings

from config.notices import Receiver
from repairs.models.batch import Batch
from repairs.models.case import Case
from repairs.models.glass import Glass
from repairs.models.notice import Notice, What
from repairs.models.person import PersonAct
from repairs.models.remark import Remark, RemarkKind
from repairs.roles import ADMIN, APPROVER, AUDITOR, MANAGER, OPERATOR, REPAIRER
from workflows import rows
from workflows.models import Agent, Approval, BudgetChange, Credential, Stop

LATE = "late"  # the mark of a notice that something was not done in time


@dataclasses.dataclass(frozen=True, slots=True)
class About:
    """`names`: the roles whose receivers are told; those of the team are always."""

    subject: uuid.UUID
    names: frozenset[str]
    team: str = ""
    mark: str = ""


def tell(what: What, abouts: Iterable[About], now: dt.datetime | None = None) -> None:
    """One row for each thing and receiver; who was told of it before isn't told again. No statement where nobody
    listens."""
    if not settings.NOTICES:
        return
    pairs = [(about, receiver) for about in abouts for receiver in listening(about)]
    if not pairs:
        return
    now = now or rows.now()
    Notice.objects.bulk_create(
        [
            Notice(
                what=what.value,
                subject=about.subject,
                team=about.team[:100],
                to=receiver.key,
                mark=about.mark,
                created_at=now,
                due_at=now,
            )
            for about, receiver in pairs
        ],
        ignore_conflicts=True,
    )


def listening(about: About) -> list[Receiver]:
    """One address is told once, even if it stands for a role and for a team."""
    found: dict[str, Receiver] = {}
    for receiver in settings.NOTICES:
        if receiver.name in about.names or receiver.name == about.team:
            found.setdefault(receiver.url, receiver)
    return list(found.values())


def of_cases(cases: Sequence[Case], now: dt.datetime) -> None:
    """Those that were just opened, or opened again."""
    tell(What.CASE, [About(c.id, frozenset({REPAIRER}), c.owner, str(c.reopened)) for c in cases], now)


def of_write_off(case: Case, act: uuid.UUID) -> None:
    tell(What.WRITE_OFF, [About(case.id, frozenset({APPROVER}), case.owner, act.hex[-30:])])


def of_batch(batch: Batch) -> None:
    """Who can confirm it; the team whose cases it is about, where that is one."""
    if settings.NOTICES:
        owners = set(batch.items.order_by().values_list("case__owner", flat=True).distinct()[:2])
        tell(What.BATCH, [About(batch.id, frozenset({APPROVER}), owners.pop() if len(owners) == 1 else "")])


def of_take_over(case: Case, act: uuid.UUID) -> None:
    tell(What.TAKE_OVER, [About(case.id, frozenset({REPAIRER}), case.owner, act.hex[-30:])])


def of_escalation(case: Case, act: uuid.UUID) -> None:
    tell(What.ESCALATION, [About(case.id, frozenset({case.escalated_to}), case.owner, act.hex[-30:])])


def of_hand_over(case: Case, act: uuid.UUID) -> None:
    tell(What.HAND_OVER, [About(case.id, frozenset({REPAIRER}), case.owner, act.hex[-30:])])


def of_asked(approvals: Sequence[Approval]) -> None:
    """Where persons are asked by name, the receivers of all approvers stand for them."""
    if not settings.NOTICES:
        return
    tell(What.APPROVAL, _of(approvals))


def of_expiring(approvals: Sequence[Approval], now: dt.datetime) -> None:
    tell(What.EXPIRING, _of(approvals), now)


def _of(approvals: Sequence[Approval]) -> list[About]:
    teams = dict(Agent.objects.filter(id__in={a.agent_id for a in approvals}).values_list("id", "team"))
    abouts = []
    for approval in approvals:
        role = approval.approvers if isinstance(approval.approvers, str) else APPROVER
        abouts.append(About(approval.id, frozenset({role}), teams.get(approval.agent_id, "")))
    return abouts


def of_person(act: PersonAct) -> None:
    """Who gives rights could give them to themselves under another name; who judges that hears of each time."""
    tell(What.PERSON, [About(act.id, frozenset({AUDITOR, ADMIN}))])


def of_glass(glass: Glass, *, late: bool = False) -> None:
    """Who reviews it, and who judges those; again where nobody did in time."""
    names = frozenset({APPROVER, MANAGER, OPERATOR, AUDITOR})
    tell(What.GLASS, [About(glass.id, names, glass.team, LATE if late else "")])


def of_remark(remark: Remark, team: str) -> None:
    """A question to who works for the agent, an answer to who may decide."""
    names = frozenset({REPAIRER if remark.kind == RemarkKind.ASK else APPROVER})
    tell(What.REMARK, [About(remark.id, names, team)])


def of_engine(thing: Credential | Stop | BudgetChange | Approval) -> None:
    match thing:
        case Approval():
            tell(What.EXPIRED, _of([thing]))
        case BudgetChange():
            tell(What.BUDGET, [About(thing.id, frozenset({APPROVER}))])
        case Credential():  # each loss is one thing to be told: its place in the history tells them apart
            tell(What.CREDENTIAL, [About(thing.id, frozenset({OPERATOR}), thing.owner, str(thing.seq))])
        case Stop():
            tell(What.STOP, [About(thing.id, frozenset({OPERATOR, REPAIRER, APPROVER}))])

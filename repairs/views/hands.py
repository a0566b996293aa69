"""What a case's page says of who has it: what is under way while it changes hands, and whose help was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from repairs.acts import escalate
from repairs.desk import Desk
from repairs.models import Act, Case
from repairs.models.act import ActKind
from repairs.words.resting import CAUSES
from repairs.words.sentence import PERSON
from workflows.states import IN_FLIGHT


def context(case: Case, desk: Desk, acts: Sequence[Act], lines: Sequence[Any]) -> dict[str, Any]:
    """`acts`, `lines`: as the page has read them, the newest acts first. No query."""
    return {
        "as_of": case.as_of,
        "in_flight": [line for line in lines if line.fact.state in IN_FLIGHT],
        "causes": CAUSES,
        "opened_by_person": [
            reason.get("detail", "") for reason in case.run.people_reasons if reason.get("code") == PERSON
        ],
        "said_alone": all(
            reason.get("code") == PERSON for reason in case.run.people_reasons
        ),  # else closing is refused
        "escalation": next((act for act in acts if act.kind == ActKind.ESCALATE), None) if case.escalated_by else None,
        "may_answer": escalate.may_answer(case, desk),
        "helpers": escalate.ROLES,
    }

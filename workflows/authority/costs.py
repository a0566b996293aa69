"""What persons set for the costs of a tool that nobody can know beforehand; each time with a reason, in history."""

from __future__ import annotations

from django.db import transaction

from workflows import journal, rows
from workflows.authority.raising import NOTHING
from workflows.errors import Flaw, Invalid
from workflows.models import Tool, ToolCost
from workflows.policies.spending import Amounts
from workflows.why import reason

MOST_LOOKS = 1000  # no manifest asks for more


def set_cost(tool: str, *, worst: Amounts | None, looks: int | None, by: str, why: str) -> ToolCost:
    """None leaves what there is. Raises `Invalid`."""
    why = reason(why)
    if not Tool.objects.filter(name=tool).exists():
        raise Invalid(NOTHING, [Flaw("name", tool, "must be a tool that is applied: budget tool NAME …")])
    if looks is not None and looks > MOST_LOOKS:
        raise Invalid(NOTHING, [Flaw("looks", looks, f"must be 0 to {MOST_LOOKS}")])
    with transaction.atomic():
        now = rows.now()
        cost = ToolCost.objects.filter(tool=tool).select_for_update().first() or ToolCost(tool=tool)
        was = {"worst": cost.worst, "looks": cost.looks} if cost.seq else {}
        cost.worst = cost.worst if worst is None else worst
        cost.looks = cost.looks if looks is None else looks
        told = {"tool": tool, "was": was, "worst": cost.worst, "looks": cost.looks, "why": why}
        made = journal.chain(
            [journal.Event(subject=cost, kind="toolcost", run_id=None, event="set", actor=by[:100], payload=told)],
            at=now,
        )
        cost.save()
        journal.write(made)
    return cost

"""Listens to the seam of the workflows: runs that need people, who asks for their cases, what people should know."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.dispatch import receiver

from repairs import cases, glasses, presence
from repairs.acts.escalate import sweep_times
from repairs.acts.snooze import wake_due
from repairs.bulk import running
from repairs.models import Case
from repairs.notices import sending, telling
from repairs.words.story import gaps_in
from repairs.words.traits import Spec
from workflows.models import Approval, BudgetChange, Credential, Policy, Run, Stop
from workflows.signals import (
    cases_of_runs,
    gaps_of_workflows,
    glass_broken,
    people_asked,
    people_should_know,
    runs_need_people,
    swept,
)


@receiver(runs_need_people, dispatch_uid="repairs.cases.follow")
def keep_cases(sender: Any, *, runs: Sequence[Run], **_: Any) -> None:
    """Runs inside the transaction that changed the runs; a failure here undoes it all."""
    cases.follow(runs)


@receiver(cases_of_runs, dispatch_uid="repairs.cases.shown")
def show_cases(sender: Any, *, run_ids: Sequence[uuid.UUID], **_: Any) -> dict[uuid.UUID, list[dict[str, Any]]]:
    """The cases of runs as the API shows them; every id is a key. One query."""
    found: dict[uuid.UUID, list[dict[str, Any]]] = {run_id: [] for run_id in run_ids}
    for case in Case.objects.filter(run__in=list(run_ids)).order_by("number"):
        found[case.run_id].append(shown(case))
    return found


@receiver(gaps_of_workflows, dispatch_uid="repairs.story.gaps")
def name_gaps(
    sender: Any, *, workflows: Mapping[str, Spec], tools: Mapping[str, tuple[int, Spec]], **_: Any
) -> list[tuple[str, str, str]]:
    return gaps_in(workflows, tools)


@receiver(people_asked, dispatch_uid="repairs.notices.asked")
def tell_of_approvals(sender: Any, *, approvals: Sequence[Approval], **_: Any) -> None:
    telling.of_asked(approvals)


@receiver(people_should_know, dispatch_uid="repairs.notices.engine")
def tell_of(sender: Any, *, thing: Credential | Stop | BudgetChange | Approval, **_: Any) -> None:
    telling.of_engine(thing)


@receiver(glass_broken, dispatch_uid="repairs.glass.broken")
def keep_glass(sender: Any, *, thing: Stop | Policy | BudgetChange | Approval, by: str, why: str, **_: Any) -> None:
    glasses.keep(thing, by=by, why=why)


@receiver(swept, dispatch_uid="repairs.cases.swept")
def wake_cases(sender: Any, **_: Any) -> None:
    wake_due()
    sweep_times()
    presence.sweep()


@receiver(swept, dispatch_uid="repairs.notices.swept")
def sweep_notices(sender: Any, **_: Any) -> None:
    sending.sweep()


@receiver(swept, dispatch_uid="repairs.bulk.swept")
def sweep_batches(sender: Any, **_: Any) -> None:
    running.sweep()


def shown(case: Case) -> dict[str, Any]:
    return {
        "id": str(case.id),
        "state": case.state,
        "sentence": case.sentence,
        "owner": case.owner,
        "deadline": case.deadline,
        "url": f"/repairs/{case.number}/",
    }

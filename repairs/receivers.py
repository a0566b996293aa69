"""Listens to the one seam of the workflows: runs that need people, and whoever asks for their cases."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from django.dispatch import receiver

from repairs import cases
from repairs.models import Case
from workflows.models import Run
from workflows.signals import cases_of_runs, runs_need_people


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


def shown(case: Case) -> dict[str, Any]:
    return {
        "id": str(case.id),
        "state": case.state,
        "sentence": case.sentence,
        "owner": case.owner,
        "deadline": case.deadline,
        "url": f"/repairs/{case.number}/",
    }

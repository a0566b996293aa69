"""Asking for remedies as a person does, and what becomes of the run."""

from __future__ import annotations

from typing import Any

from tests.engine.conftest import again
from workflows.engine.remedy import RemedyBody, remedy
from workflows.models import Effect, Run

BY = "person:night-desk"


def ask(run: Run, tool: str = "t.refund", of: Effect | None = None, **more: Any) -> Effect:
    arguments = more.pop("arguments", {"amount": 480})
    body = RemedyBody(tool=tool, arguments=arguments, makes_good=of.id if of else None, **more)
    return remedy(run.id, body, by=BY, why="charged twice")[0]


def of(run: Run, step: str) -> Effect:
    return Effect.objects.get(run=run, step__name=step, compensates=None)


def codes(run: Run) -> list[str]:
    return [reason["code"] for reason in again(run).people_reasons]

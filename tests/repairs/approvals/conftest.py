"""What the tests of approvals in the console share: an approval that is asked for, and who may give it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.engine.simulated import World
from tests.repairs.approvals.pages import MONEY
from workflows.models import Approval, Workflow

Make = Callable[..., Any]


@pytest.fixture
def asking(world: World, tool: Make, workflow: Make, run_through: Make) -> Callable[..., Approval]:
    """An approval that is asked for: of a refund, which can't be undone, unless `options` say otherwise."""

    def make(arguments: Any = MONEY, name: str = "pay.refund", **options: Any) -> Approval:
        tool(name, **{"autonomy": "ask", "effect_class": "irreversible", "undo": False, **options})
        flow = workflow(name)
        flow.spec["steps"][0]["arguments"] = arguments
        Workflow.objects.filter(id=flow.id).update(spec=flow.spec)
        run = run_through(flow)
        return Approval.objects.select_related("effect__agent").get(run=run, state="asked")

    return make


@pytest.fixture
def approver(person: Make) -> User:
    user: User = person("approver", "approver")
    return user


@pytest.fixture
def client(approver: User, browse: Make) -> Client:
    found: Client = browse(approver)
    return found

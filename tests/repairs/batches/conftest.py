"""What the tests of batches share: who asks, and many cases of one cause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from repairs.models import Case
from tests.engine.simulated import World
from workflows.drain import drain_once

Make = Callable[..., Any]


@pytest.fixture
def many(stuck: Make, begin: Make, world: World) -> Callable[[int], list[Case]]:
    """So many cases of one cause, driven together."""

    def make(number: int) -> list[Case]:
        first = stuck()
        for _ in range(number - 1):
            world.script("mail.send", "execute", "refused")
            world.script("crm.contact", "compensate", "refused")
        runs = [begin(first.run.workflow) for _ in range(number - 1)]
        drain_once()
        return [first, *Case.objects.filter(run__in=runs).order_by("number")]

    return make


@pytest.fixture
def client(repairer: User, browse: Make) -> Client:
    found: Client = browse(repairer)
    return found


@pytest.fixture
def second(person: Make) -> User:
    user: User = person("second", "approver")
    return user


@pytest.fixture
def held(world: World, tool: Make, workflow: Make, begin: Make) -> Callable[..., list[Case]]:
    """So many cases of runs that hold with two effects outside; `options` are the tools'."""

    def make(number: int, **options: Any) -> list[Case]:
        if not hasattr(make, "flow"):
            for name in ("crm.lead", "audience.add"):
                tool(name, **options)
            tool("mail.notify")
            make.flow = workflow("crm.lead", "audience.add", "mail.notify", on_failure="hold")  # type: ignore[attr-defined]
        for _ in range(number):
            world.script("mail.notify", "execute", "refused")
        runs = [begin(make.flow) for _ in range(number)]  # type: ignore[attr-defined]
        drain_once()
        return list(Case.objects.filter(run__in=runs).order_by("number"))

    return make

"""What tests of repairs share: the engine's simulated world, people with roles, and a run that gets stuck."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.hashers import get_hasher, make_password
from django.contrib.auth.models import Group, User
from django.test import Client

from config import notices
from repairs.models import Case
from tests.engine.conftest import agent, begin, run_through, tool, workflow, world
from tests.engine.simulated import World
from tests.repairs.receiving import BASE, Hook

__all__ = ["agent", "begin", "run_through", "tool", "workflow", "world"]

Make = Callable[..., Any]


@functools.cache
def digest_of_a_long_enough_one(hasher: str) -> str:
    """Made once for each hasher: it is slow by intention."""
    return make_password("a long enough one", hasher=hasher)


@pytest.fixture
def person(db: None) -> Callable[..., User]:
    def make(name: str, *roles: str) -> User:
        digest = digest_of_a_long_enough_one(get_hasher().algorithm)
        user = User.objects.create(username=name, password=digest, is_staff=True)
        user.groups.set(Group.objects.filter(name__in=roles))
        return user

    return make


@pytest.fixture
def repairer(person: Make) -> User:
    user: User = person("repairer", "repairer")
    return user


@pytest.fixture
def day(person: Make) -> User:
    user: User = person("day-desk", "repairer")
    return user


@pytest.fixture
def night(person: Make) -> User:
    user: User = person("night-desk", "repairer")
    return user


@pytest.fixture
def browse() -> Callable[[User], Client]:
    def go(user: User) -> Client:
        client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        return client

    return go


@pytest.fixture
def second(person: Make, browse: Make) -> Client:
    """Another person, who may say yes to what somebody asked for."""
    client: Client = browse(person("second", "approver"))
    return client


@pytest.fixture
def stuck(world: World, tool: Make, workflow: Make, run_through: Make) -> Callable[..., Case]:
    """A run whose second step is refused and whose first can't be undone; `answer` says how the undoing ends."""

    def make(answer: str = "refused", **options: Any) -> Case:
        if not Case.objects.exists():
            tool("crm.contact", residue="A contact record stands in the CRM.", **options)
            tool("mail.send")
            make.flow = workflow("crm.contact", "mail.send")  # type: ignore[attr-defined]
        world.script("mail.send", "execute", "refused")
        world.script("crm.contact", "compensate", answer)
        run = run_through(make.flow)  # type: ignore[attr-defined]
        return Case.objects.get(run=run)

    return make


@pytest.fixture
def told(settings: Any) -> Callable[..., None]:
    """`told(name=url)`: configures which roles and teams are told where."""

    def use(**by_name: str) -> None:
        settings.NOTICES = notices.receivers("\n".join(f"{name}={url}" for name, url in by_name.items()))
        settings.MAKEGOOD_URL = BASE

    return use


@pytest.fixture
def hook(told: Make) -> Iterator[Hook]:
    made = Hook()
    with made.open() as url:
        told(repairer=url)
        yield made

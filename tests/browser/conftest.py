"""What browser tests share: Debian's Chromium, a served console with every kind of case, and a watch on its errors."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.hashers import get_hasher
from django.contrib.auth.models import Group, User
from django.core.signals import request_finished, request_started
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page
from pytest_django.live_server_helper import LiveServer

from repairs.models import Case
from tests.engine.conftest import agent, begin, run_through, tool, workflow, world
from tests.engine.simulated import World
from tests.repairs.conftest import digest_of_a_long_enough_one
from workflows.drain import drain_once
from workflows.models import Run

# Playwright's synchronous calls run an event loop in this thread; Django takes that for an async context.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

CHROMIUM = Path("/usr/bin/chromium")
LEFT = "net::ERR_ABORTED"  # the page was left before it had come
NAME, PASSWORD = "repairer", "a long enough one"
Make = Callable[..., Any]

__all__ = ["agent", "begin", "run_through", "tool", "workflow", "world"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if CHROMIUM.exists() or os.environ.get("MAKEGOOD_BROWSER") == "required":
        return
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.skip(reason="no /usr/bin/chromium: apt install chromium"))


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    quiet = ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update"]
    args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-sync", *quiet]
    return {**browser_type_launch_args, "executable_path": str(CHROMIUM), "args": args}


@pytest.fixture
def repairer(transactional_db: None) -> User:
    return someone(NAME, "repairer", "approver")


def someone(name: str, *roles: str) -> User:
    digest = digest_of_a_long_enough_one(get_hasher().algorithm)
    user = User.objects.create(username=name, password=digest, is_staff=True)
    user.groups.set(Group.objects.filter(name__in=roles))
    return user


@pytest.fixture
def scene(repairer: User, world: World, tool: Make, workflow: Make, begin: Make) -> dict[str, Any]:
    """Runs that went well, that turned back, that are held, that nobody can know of, and one that can't be undone."""
    record = "A contact record for office@harper.example stands in the CRM."
    tool("crm.create_contact", residue=record, owner="crm-desk", customer_visible=False)
    tool("calendar.book", residue="A meeting with Harper Ltd stands in the calendar.", owner="sales-desk")
    tool("mail.confirm", residue="A confirmation was sent to office@harper.example.", owner="mail-desk", verify=False,
         undo=False, keyed=False, effect_class="irreversible")  # fmt: skip
    onboarding = workflow("crm.create_contact", "calendar.book", "mail.confirm", owner="onboarding-desk")
    held = workflow("crm.create_contact", "calendar.book", on_failure="hold", owner="onboarding-desk")

    def run(flow: Any, label: str, *scripts: tuple[str, str, str]) -> Run:
        for script in scripts:
            world.script(*script)
        started: Run = begin(flow, external_id=f"order-{label.split()[-1].lower()}", input={"company": label})
        Run.objects.filter(id=started.id).update(subject_label=label)
        drain_once()
        return Run.objects.get(id=started.id)

    well = run(onboarding, "Acme Tools", ("calendar.book", "execute", "lost_after"))
    run(onboarding, "Bolt Works", ("calendar.book", "execute", "refused"))
    run(held, "Cole Brothers", ("calendar.book", "execute", "refused"))
    run(onboarding, "Dunn Paper", ("mail.confirm", "execute", "lost_after"))
    undo = run(
        onboarding, "Harper Ltd", ("mail.confirm", "execute", "refused"), ("calendar.book", "compensate", "refused")
    )
    return {"well": well, "run": undo, "case": Case.objects.get(run=undo)}


@pytest.fixture
def watched() -> Iterator[Callable[[Page], Page]]:
    """Collects what a page complains of: script errors, refused resources, violations of the CSP."""
    complaints: list[str] = []

    def watch(page: Page) -> Page:
        page.on("console", lambda said: complaints.append(said.text) if serious(said) else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("requestfailed", lambda request: None if request.failure == LEFT else complaints.append(request.url))
        return page

    yield watch
    assert complaints == []


def serious(said: ConsoleMessage) -> bool:
    """Whether a page complains of itself; that an act was refused is said by its status, which the console repeats."""
    return said.type in ("error", "warning") and not REFUSED.search(said.text)


REFUSED = re.compile(r"responded with a status of (400|403|409) ")


@pytest.fixture
def opened(
    browser: Browser, live_server: LiveServer, watched: Make, transactional_db: None
) -> Iterator[Callable[..., Page]]:
    """The first page of somebody who has logged in, in a browser of their own; `options` are the context's. That people
    can log in is told by the tests of the console; here it would take longer than what is told."""
    contexts = []

    def go(user: User, **options: Any) -> Page:
        context = browser.new_context(base_url=live_server.url, **options)
        contexts.append(context)
        let_in(context, user, live_server.url)
        page: Page = watched(context.new_page())
        page.goto("/")
        return page

    with all_answered():
        yield go
        for context in contexts:
            context.close()


@contextlib.contextmanager
def all_answered() -> Iterator[None]:
    """Waits at its end for what the server is still at, as pages tell of themselves until they are closed: their rows
    and the tables that are emptied then could wait for each other."""
    changed, open_ones = threading.Condition(), set[int]()

    def begins(**_: Any) -> None:
        with changed:
            open_ones.add(threading.get_ident())

    def ends(**_: Any) -> None:
        with changed:
            open_ones.discard(threading.get_ident())
            changed.notify_all()

    request_started.connect(begins)
    request_finished.connect(ends)
    yield
    with changed:
        assert changed.wait_for(lambda: not open_ones, timeout=60), "a request never ended"
    request_started.disconnect(begins)
    request_finished.disconnect(ends)


def let_in(context: BrowserContext, user: User, url: str) -> None:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": url}])


@pytest.fixture
def enter(opened: Make, repairer: User) -> Callable[..., Page]:
    """A page of the repairer; `options` as in `opened`."""
    return functools.partial(opened, repairer)


@pytest.fixture
def desk(opened: Make) -> Callable[..., Page]:
    """`desk(name, *roles)`: a page of somebody made for it; `options` as in `opened`."""

    def go(name: str, *roles: str, **options: Any) -> Page:
        page: Page = opened(someone(name, *roles), **{"viewport": {"width": 1280, "height": 900}, **options})
        return page

    return go

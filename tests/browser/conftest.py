"""What browser tests share: Debian's Chromium, a served console with every kind of case, and a watch on its errors."""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.signals import request_finished, request_started
from playwright.sync_api import Browser, ConsoleMessage, Page
from pytest_django.live_server_helper import LiveServer

from repairs.models import Case
from tests.engine.conftest import agent, begin, run_through, tool, workflow, world
from tests.engine.simulated import World
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
    user = User.objects.create_user(NAME, password=PASSWORD, is_staff=True)
    user.groups.set(Group.objects.filter(name__in=["repairer", "approver"]))
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
    """A page in a browser of its own; `options` are the browser context's."""
    contexts = []

    def go(**options: Any) -> Page:
        context = browser.new_context(base_url=live_server.url, **options)
        contexts.append(context)
        page: Page = watched(context.new_page())
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


@pytest.fixture
def enter(opened: Make, repairer: User) -> Callable[..., Page]:
    """A page of somebody who has logged in; `options` as in `opened`."""

    def go(**options: Any) -> Page:
        page: Page = opened(**options)
        page.goto("/admin/login/?next=/")
        page.get_by_label("Name").fill(NAME)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_url("**/")
        return page

    return go


@pytest.fixture
def desk(opened: Make) -> Callable[..., Page]:
    """`desk(name, *roles)`: the page of somebody who was logged in with the keyboard; `options` as in `opened`."""

    def go(name: str, *roles: str, **options: Any) -> Page:
        user = User.objects.create_user(name, password=PASSWORD, is_staff=True)
        user.groups.set(Group.objects.filter(name__in=roles))
        page: Page = opened(**{"viewport": {"width": 1280, "height": 900}, **options})
        page.goto("/")
        for text, then in ((name, "Tab"), (PASSWORD, "Enter")):
            page.keyboard.type(text)
            page.keyboard.press(then)
        page.wait_for_url("**/")
        return page

    return go

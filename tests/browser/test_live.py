"""Pages that ask for news in a real browser: the same isn't sent twice, who looks away doesn't ask, nothing is lost."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from playwright.sync_api import Page, Response, expect

from repairs.acts import claim
from repairs.models import Case
from repairs.views import live
from tests.browser.test_approvals import asking
from tests.engine.simulated import World
from workflows.drain import drain_once
from workflows.engine import peek
from workflows.models import Run, Workflow

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
EVERY = 10_000  # ms
LOOKED_AT = "{0}; Object.defineProperty(document, 'hidden', {{get: () => window.__hidden, configurable: true}})"

__all__ = ["asking"]


@pytest.fixture
def another(world: World, tool: Make, workflow: Make, begin: Make) -> Callable[[], Case]:
    """One more case."""
    tool("crm.create_contact", residue="A contact record stands in the CRM.", owner="crm-desk")
    tool("mail.confirm")
    flow: Workflow = workflow("crm.create_contact", "mail.confirm")

    def make() -> Case:
        world.script("mail.confirm", "execute", "refused")
        world.script("crm.create_contact", "compensate", "refused")
        run: Run = begin(flow)
        drain_once()
        return Case.objects.get(run=run)

    return make


@pytest.fixture
def still(enter: Make) -> Page:
    """A page whose clock goes on when it is told to."""
    page: Page = enter()
    page.clock.install()
    return page


def later(page: Page, name: str, ms: int = EVERY) -> Response:
    """What is answered to what is asked after that time."""
    with page.expect_response(re.compile(rf"/{name}(\?|$)")) as answered:
        page.clock.fast_forward(ms)
    return answered.value


def asked(page: Page) -> list[str]:
    """Gets longer by each request that isn't for a part of the design."""
    urls: list[str] = []
    page.on("request", lambda request: None if "/static/" in request.url else urls.append(request.url))
    return urls


def test_the_same_is_sent_twice_or_what_came_costs_the_focus_or_what_was_typed(another: Make, still: Page) -> None:
    another()
    still.goto("/repairs/")
    still.get_by_label("Tool").fill("half a na")
    assert later(still, "news").status == 304, "the page knows what it shows"
    another()
    assert later(still, "news").status == 200
    expect(still.get_by_text("1 new case since")).to_be_visible()
    assert later(still, "news").status == 304
    show = still.get_by_role("link", name="Show", exact=True)
    show.focus()
    another()
    assert later(still, "news").status == 200
    expect(still.get_by_text("2 new cases since")).to_be_visible()
    expect(show).to_be_focused()
    expect(still.get_by_label("Tool")).to_have_value("half a na")
    show.click()
    expect(still.locator("[data-row]")).to_have_count(3)
    stored = still.evaluate("[...Object.entries({...sessionStorage, ...localStorage})]")
    assert stored == [["htmx-current-path-for-history", "/repairs/?view=all"]], "of the page nothing"


def test_a_page_that_nobody_looks_at_asks_or_one_that_is_looked_at_again_waits(another: Make, still: Page) -> None:
    case = another()
    still.add_init_script(LOOKED_AT.format("window.__hidden = true"))
    urls = asked(still)
    for address in ("/", "/repairs/", f"/repairs/{case.number}/", f"/runs/{case.run_id}/"):
        still.goto(address)
        urls.clear()
        still.clock.run_for(3 * EVERY)
        with still.expect_response(re.compile("/(news|here)")) as answered:
            still.evaluate("window.__hidden = false; document.dispatchEvent(new Event('visibilitychange'))")
        assert answered.value.ok or answered.value.status == 304
        assert len(urls) == 1, address


def test_home_or_a_run_is_silent_about_what_changed(another: Make, still: Page) -> None:
    case = another()
    still.goto("/")
    assert later(still, "news", 3 * EVERY).status == 304
    claim.claim(case.id, by=User.objects.get(username="repairer"))
    assert later(still, "news", 3 * EVERY).status == 200
    expect(still.get_by_text("A figure changed since this page was made.")).to_be_visible()
    still.goto(f"/runs/{case.run_id}/")
    assert later(still, "news").status == 304
    Run.objects.filter(id=case.run_id).update(seq=99)
    assert later(still, "news").status == 200
    expect(still.get_by_text("This run went on since this page was made.")).to_be_visible()


def test_a_case_is_told_the_same_twice_or_does_not_tell_that_somebody_works_on_it(another: Make, still: Page) -> None:
    case = another()
    with still.expect_response(re.compile("/here$")) as first:
        still.goto(f"/repairs/{case.number}/")
    assert first.value.status == 200
    idle = later(still, "here")
    assert (idle.status, said(idle)["active"]) == (204, [""])
    still.keyboard.press("a")
    still.keyboard.type("they say it is gone")
    assert said(later(still, "here"))["active"] == ["1"]
    assert said(later(still, "here"))["active"] == [""]
    Case.objects.filter(id=case.id).update(seq=99)
    assert later(still, "here").status == 200
    expect(still.get_by_text("This case changed since you opened it.")).to_be_visible()
    expect(still.locator("#why-next")).to_have_value("they say it is gone")
    expect(still.locator("#why-next")).to_be_focused()


def said(answer: Response) -> dict[str, list[str]]:
    return parse_qs(answer.request.post_data or "", keep_blank_values=True)


@pytest.mark.parametrize("told", [True, False], ids=["told by the server", "refused by the page"])
def test_who_was_logged_out_finds_the_login_in_the_page(
    another: Make, still: Page, monkeypatch: pytest.MonkeyPatch, told: bool
) -> None:
    case = another()
    with still.expect_response(re.compile("/here$")):
        still.goto(f"/repairs/{case.number}/")
    still.locator("#why-next").fill("half a sentence")
    still.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    if not told:
        monkeypatch.setattr(live, "asked_by", lambda request: False)
    with still.expect_response(lambda answer: answer.ok) as answered:
        still.clock.fast_forward(EVERY)
    assert "Password" in answered.value.text() or told
    again = still.get_by_role("link", name="Log in")
    expect(again).to_have_count(1 if told else 0)
    expect(still.get_by_label("Password")).to_have_count(0)
    expect(still.locator("#why-next")).to_have_value("half a sentence")
    if told:
        again.click()
        still.get_by_label("Name").fill("repairer")
        still.get_by_label("Password").fill("a long enough one")
        still.get_by_role("button", name="Log in").click()
        expect(still.locator("#why-next")).to_have_value("half a sentence")


def test_who_logged_in_again_elsewhere_is_told_that_something_changed_or_that_they_are_logged_out(
    another: Make, still: Page
) -> None:
    another()
    still.goto("/")
    session = [one for one in still.context.cookies() if one["name"] == settings.SESSION_COOKIE_NAME]
    assert later(still, "news", 3 * EVERY).status == 304
    still.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    assert later(still, "news", 3 * EVERY).status == 200
    expect(still.get_by_text("You were logged out.")).to_be_visible()
    assert later(still, "news", 3 * EVERY).status == 304, "it is said once"
    expect(still.get_by_text("You were logged out.")).to_be_visible()
    still.context.add_cookies(session)  # type: ignore[arg-type]  # as they were given
    assert later(still, "news", 3 * EVERY).status == 304, "nothing is new"
    expect(still.get_by_text("You were logged out.")).to_be_hidden()
    another()
    assert later(still, "news", 3 * EVERY).status == 200
    expect(still.get_by_text("A figure changed since this page was made.")).to_be_visible()


@pytest.mark.parametrize("name", ["repairer", "night desk"])
def test_a_page_of_a_session_that_is_over_is_silent_or_loses_what_was_typed(
    another: Make, still: Page, desk: Make, name: str
) -> None:
    place = f"/repairs/{another().number}/"
    if name != "repairer":
        desk(name, "repairer")
    with still.expect_response(re.compile("/here$")):
        still.goto(place)
    still.locator("#why-next").fill("half a sentence")
    tab = still.context.new_page()
    tab.goto("/")
    tab.get_by_role("button", name="Log out").click()
    tab.goto("/")
    tab.get_by_label("Name").fill(name)
    tab.get_by_label("Password").fill("a long enough one")
    tab.get_by_role("button", name="Log in").click()
    expect(tab.get_by_role("link", name=name)).to_be_visible()
    tab.close()
    still.evaluate("scrollTo(0, document.body.scrollHeight)")
    assert later(still, "here").status == 200
    mine = still.get_by_text("You logged in again since this page was opened.")
    other = still.get_by_text("night desk is logged in now, in another tab.")
    expect(mine if name == "repairer" else other).to_be_in_viewport()  # wherever one reads
    expect(still.locator("#why-next")).to_have_value("half a sentence")
    assert later(still, "here").status == 204, "it is said once"
    expect(mine if name == "repairer" else other).to_be_visible()
    still.get_by_role("link", name="Load it anew").click()
    expect(still.get_by_role("heading", name="Next safe act")).to_be_visible()
    expect(still.locator("#why-next")).to_have_value("half a sentence" if name == "repairer" else "")


def test_what_was_typed_is_gone_where_the_session_had_ended_or_comes_back_where_it_was_kept(
    another: Make, enter: Make
) -> None:
    place, page = f"/repairs/{another().number}/", enter()
    page.goto(place)
    page.get_by_text("Write down a guess").click()
    guess, keep = page.locator("#guess"), page.get_by_role("button", name="Keep as a guess")
    guess.fill("their queue is full")
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    keep.click()
    page.get_by_label("Name").fill("repairer")
    page.get_by_label("Password").fill("a long enough one")
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(f"**{place}")
    expect(guess).to_have_value("their queue is full")
    page.context.clear_cookies(name="csrftoken")
    keep.click()
    expect(page.get_by_text("This form is too old")).to_be_visible()
    page.go_back()
    expect(guess).to_have_value("their queue is full")
    keep.click()
    expect(page.get_by_text("Kept as a guess")).to_be_visible()
    expect(guess).to_have_value("")
    page.reload()
    expect(guess).to_have_value("")


INJECTED = """<div hx-get="/stops/" hx-trigger="load">a</div>
<div data-hx-post="/repairs/next" data-hx-trigger="load">b</div>
<div hx-get="//elsewhere.example/repairs/news" hx-trigger="load">c</div>
<a hx-boost="true" href="/runs/">d</a>
<form hx-post="/repairs/1/claim" hx-trigger="load" hx-request='{"noHeaders": true}' hx-include="[name]">e</form>
<p hx-get="/stops/" hx-vals="js:{a: window.__x = 1}" hx-trigger="load">f</p>"""
PUT_IN = "text => { document.body.insertAdjacentHTML('beforeend', text); htmx.process(document.body) }"


def test_markup_that_got_into_a_page_makes_it_ask_for_anything_but_news(another: Make, still: Page) -> None:
    another()
    still.goto("/repairs/")
    still.wait_for_load_state()
    urls = asked(still)
    still.evaluate(
        "text => { document.body.insertAdjacentHTML('beforeend', text); htmx.process(document.body) }", INJECTED
    )
    still.get_by_role("link", name="d", exact=True).click()
    assert later(still, "news").status == 304
    assert len(urls) == 1, urls
    assert still.evaluate("window.__x") is None


UNANSWERED = "Boolean(document.querySelector('[data-slower]')['htmx-internal-data'].xhr)"
READING = re.compile("/reading$")
ASKS = "document.addEventListener('htmx:confirm', one => { window.__asks += !one.defaultPrevented })"


def test_a_page_asks_as_often_after_a_minute_as_at_first_whether_its_target_was_read(asking: Make, still: Page) -> None:
    approval = asking()
    peek.ask(approval.id)
    still.goto(f"/approvals/{approval.id}/")
    expect(still.get_by_text("It is being read now")).to_be_visible()
    still.evaluate(f"window.__asks = 0; {ASKS}")
    still.clock.run_for(3_000)
    first = still.evaluate("window.__asks")
    assert first >= 2, "soon, while it may come at once"
    still.clock.run_for(57_000)
    assert first < still.evaluate("window.__asks") <= 15, "each 0.7 s would be 85"
    before = still.evaluate("window.__asks")
    while still.evaluate(UNANSWERED):
        pass  # its clock went faster than the server
    with still.expect_response(READING):
        still.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    assert still.evaluate("window.__asks") == before + 1, "who looks again is told at once"
    drain_once()
    with still.expect_response(READING):
        still.clock.run_for(11_000)
    expect(still.get_by_text("It is being read now")).to_be_hidden()


def test_a_form_that_was_refused_is_sent_again_as_its_page_is_loaded_anew(asking: Make, enter: Make) -> None:
    approval = asking()
    page: Page = enter()
    page.goto(f"/approvals/{approval.id}/")
    peek.ask(approval.id)
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.locator("label.choice").filter(has_not_text="48000").first.click()
    page.get_by_label("Why").fill("it looks right")
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("It is being read now")).to_be_visible()
    drain_once()
    page.wait_for_url(f"**/approvals/{approval.id}/")
    expect(page.get_by_text("It is being read now")).to_be_hidden()
    expect(page.get_by_label("Why")).to_have_value("it looks right")
    assert len(sent) == 1

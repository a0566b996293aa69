"""How far a case reaches, what is to be checked before an act, and what can't be done: as its page says it."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from html import unescape
from typing import Any
from urllib.parse import unquote_plus

import pytest
from django.contrib.auth.models import User
from django.test import Client

from repairs import worklist
from repairs.models import Case
from repairs.words.advice import why_open
from repairs.words.cause import signature, split
from repairs.words.checks import checks
from repairs.words.facts import EffectFacts, LookFacts, Reason
from tests.engine.simulated import World
from workflows.models import Run, Stop

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
NOW = dt.datetime(2026, 3, 10, 14, 0, tzinfo=dt.UTC)
REACH = re.compile(r'<a href="(/repairs/\?cause=[^"]*|/repairs/\?customer=[^"]*)">([0-9,+]+) cases ([^<]*)</a>')


@pytest.fixture
def repairer(person: Make) -> User:
    user: User = person("day-desk", "repairer")
    return user


@pytest.fixture
def client(repairer: User, browse: Make) -> Client:
    found: Client = browse(repairer)
    return found


def test_a_figure_of_a_cases_reach_is_another_than_the_list_that_it_opens(
    stuck: Make, client: Client, world: World
) -> None:
    """Three of one cause, two of them of one customer; one of the same tool's version for another cause."""
    first, second, third = stuck(), stuck(), stuck()
    world.script("crm.contact", "look_undone", "several")
    other = stuck("well")
    assert other.signature != first.signature
    Run.objects.filter(id__in=[first.run_id, other.run_id]).update(subject_type="customer", subject_id="acme & co")
    Case.objects.filter(id__in=[first.id, second.id]).update(value=[{"amount": 48000, "currency": "EUR"}])
    Case.objects.filter(id=third.id).update(value=[{"amount": 5, "currency": "JPY"}])
    page = client.get(f"/repairs/{first.number}/").content.decode()
    found = {title: (int(number), address.replace("&amp;", "&")) for address, number, title in REACH.findall(page)}
    assert {title: number for title, (number, _) in found.items()} == {
        "of this cause": 3, "of this customer": 2, "stuck at this version of the tool": 4,
    }  # fmt: skip
    for title, (number, address) in found.items():
        assert client.get(address).context["counts"]["all"] == number, (title, unquote_plus(address))
    assert "3 customers" in page
    assert "960.00" in page
    assert "/stops/?target=tool&amp;name=crm.contact" in page
    alone = client.get(f"/repairs/{other.number}/").content.decode()
    assert "No other of this cause" in alone


def test_d04_beyond_what_one_pass_reads_a_reach_is_told_that_was_passed_over(
    stuck: Make, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [stuck() for _ in range(4)]
    ends = [cases[0].run_id, cases[-1].run_id]
    Run.objects.filter(id__in=ends).update(subject_type="customer", subject_id="acme")
    monkeypatch.setattr(worklist, "CAP", 2)
    page = client.get(f"/repairs/{cases[0].number}/").content.decode()
    assert {title: number for _, number, title in REACH.findall(page)} == {
        "of this cause": "4", "of this customer": "2", "stuck at this version of the tool": "4",
    }  # fmt: skip
    assert "customers" not in page[page.index("How far it reaches") :], "they weren't all met"


def test_d04_a_figure_of_a_customer_whose_name_ends_in_a_blank_opens_nothing(stuck: Make, client: Client) -> None:
    cases = [stuck() for _ in range(2)]
    Run.objects.update(subject_type="customer", subject_id=" acme\u00a0 ")
    page = client.get(f"/repairs/{cases[0].number}/").content.decode()
    (address,) = [unescape(address) for address, _, title in REACH.findall(page) if title == "of this customer"]
    assert client.get(address).context["counts"]["all"] == 2


def test_a_figure_of_a_case_whose_customer_has_a_long_name_opens_nothing(stuck: Make, client: Client) -> None:
    first, second = stuck(), stuck()
    Run.objects.update(subject_type="t" * 100, subject_id="é" * 200)
    page = client.get(f"/repairs/{first.number}/").content.decode()
    (address,) = {unescape(at) for at, _, title in REACH.findall(page) if title == "of this customer"}
    found = client.get(address)
    assert (found.status_code, found.context["counts"]["all"]) == (200, 2), second.name
    assert f'value="{"t" * 100}:{"é" * 200}"' in found.content.decode(), "the form asks for another customer"


def test_reach_counts_cases_that_a_person_may_not_see_or_that_are_closed(stuck: Make, client: Client) -> None:
    first, second = stuck(), stuck()
    Case.objects.filter(id=second.id).update(state="resolved", closed_at=NOW)
    page = client.get(f"/repairs/{first.number}/").content.decode()
    assert "No other open case has this cause, this customer or this version of the tool." in page
    closed = client.get(f"/repairs/{second.number}/").content.decode()
    assert "How far it reaches" not in closed


def test_cases_held_after_another_tools_failure_are_of_one_cause() -> None:
    held = signature(Reason(code="hold", step="activate", tool="crm.activate"), None, None)
    assert (held, split(held)) == ("crm.activate: hold", ("crm.activate", "", "hold"))
    assert split("crm.contact v2: refused, undoing") == ("crm.contact", "crm.contact v2", "refused")
    assert split(signature(Reason(code="no_progress"), None, None)) == ("", "", "no_progress")


def fact(**more: Any) -> EffectFacts:
    base = {"id": "e1", "step": "pay", "tool": "pay.charge", "state": "stuck", "world": "unknown", "attempts": 1}
    return EffectFacts(**{**base, **more})


def test_what_is_old_or_may_still_come_is_not_to_be_checked() -> None:
    look = LookFacts(at=NOW - dt.timedelta(hours=2), verdict="inconclusive")
    assert checks([fact(look=look)], NOW) == ["What is known of pay is of 2026-03-10 12:00 UTC: look again first."]
    fresh = LookFacts(at=NOW - dt.timedelta(minutes=1), verdict="inconclusive")
    assert checks([fact(look=fresh)], NOW) == []
    late = fact(look=fresh, miss_from=NOW + dt.timedelta(minutes=5))
    assert checks([late], NOW) == [
        "pay may still take effect: that a look before 14:05:00 UTC misses it proves nothing."
    ]
    assert checks([fact(state="pending", kind="compensation")], NOW) == [
        "the undoing of pay is under way now: wait for what comes of it."
    ]


def test_a_case_is_closed_by_hand_without_a_word_why_not() -> None:
    two = [fact(), fact(id="e2", step="book", kind="compensation", world="nothing")]
    said = why_open(two, [Reason(code="refused", effect="e1")])
    assert said is not None
    assert said.why.startswith("A person is needed for: pay, the undoing of book. It closes by itself once")
    assert why_open([], [Reason(code="person", detail="they call")]) is None
    held = why_open([], [Reason(code="hold")])
    assert held is not None
    assert "no decision of a person" in held.why


def test_what_is_not_safe_can_be_pressed_or_does_not_say_why(stuck: Make, client: Client) -> None:
    case = stuck("lies")
    page = client.get(f"/repairs/{case.number}/").content.decode()
    buttons = re.findall(r'<button type="button" class="second" disabled aria-describedby="([^"]+)">', page)
    assert "not-close" in buttons
    assert len(buttons) > 1
    for one in buttons:
        assert re.search(rf'<dd id="{one}">[^<]*<?[^<]*\.', page), one


def test_a_page_does_not_say_that_its_tool_is_frozen(stuck: Make, client: Client) -> None:
    case = stuck()
    assert "nothing is sent until" not in client.get(f"/repairs/{case.number}/").content.decode()
    Stop.objects.create(
        target="tool", name="crm.contact", reason="odd", second_person=False, frozen_by="engine", frozen_at=NOW
    )
    page = client.get(f"/repairs/{case.number}/").content.decode()
    assert re.search(r"tool <bdi>crm.contact</bdi> is frozen since .*?: nothing is sent until", page)


def test_a_case_does_not_say_by_whose_agent_it_is_when_it_was_first_seen_or_what_the_provider_calls_things(
    stuck: Make, client: Client
) -> None:
    case = stuck()
    page = client.get(f"/repairs/{case.number}/").content.decode()
    assert f'by <a href="/agents/{case.run.agent_id}/">' in page
    assert "Sent 1 time" in page
    assert "Known there as" in page
    Case.objects.filter(id=case.id).update(reopened=1, opened_at=NOW)
    assert "first seen" in client.get(f"/repairs/{case.number}/").content.decode()

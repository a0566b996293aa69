"""What an approver is shown: the exact call, where its values stem from, and its target as it is now."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
from collections.abc import Callable
from html import escape, unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from repairs.acts import approve as acts
from repairs.views.approval import changed, counted
from repairs.words.exact import Change, changes, exact
from tests.engine.simulated import World
from tests.repairs.approvals.pages import form, page_of, say, state
from workflows.drain import drain_once
from workflows.engine import peek
from workflows.models import Approval, Beat

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_d05_a_cut_call_is_approved_only_after_its_full_text_was_opened(asking: Make, client: Client) -> None:
    approval = asking({"amount": 5, "text": "x" * 10_000})
    page = page_of(client, approval)
    assert "Open the full text" in page
    assert "cut: it has 10000 characters" in page
    assert len(page) < 40_000
    status, page = say(client, approval, **form(client, approval))
    assert (status, state(approval)) == (400, "asked")
    assert "Open the full text, read it, then approve." in page
    assert "x" * 10_000 in page_of(client, approval, "?whole=1")
    say(client, approval, **form(client, approval, "?whole=1"))
    assert state(approval) == "granted"


def test_d05_what_nobody_can_read_can_only_be_refused(asking: Make, client: Client) -> None:
    approval = asking({"amount": 5, "text": "y" * 400_000})
    page = page_of(client, approval, "?whole=1")
    assert "more than anybody can check here" in page
    assert len(page) < 60_000
    assert say(client, approval, **form(client, approval, "?whole=1"))[0] == 400
    say(client, approval, "refuse", **form(client, approval))
    assert state(approval) == "refused"


def test_d05_a_long_name_of_a_value_is_cut_and_approved_by_who_never_saw_its_end(asking: Make, client: Client) -> None:
    approval = asking({"amount": 5, "k" * 5_000 + "its end": True})
    page = page_of(client, approval)
    assert ("its end" in page, "cut: it has 5007 characters" in page) == (False, True)
    assert say(client, approval, **form(client, approval))[0] == 400
    assert "its end" in page_of(client, approval, "?whole=1")
    say(client, approval, **form(client, approval, "?whole=1"))
    assert state(approval) == "granted"


def test_d09_two_calls_that_differ_look_the_same() -> None:
    alike = [{"a.b": 1}, {"a": {"b": 1}}, {"a": [1]}, {"a": {"0": 1}}, {"a.0": 1}, {"": {"": 1}}, {'a"."b': 1}, {"": 1}]
    assert len({exact(one).lines[0].path for one in alike}) == len(alike)
    for one in alike:
        assert [len(changes(one, other)) for other in alike].count(0) == 1, one
    both = {"a.b": 1, "a": {"b": 1}}
    assert changes(both, {**both, "a": {"b": 2}}) == [Change(path="a.b", before="1", after="2")]
    assert changes({"a": 1}, {"a": "1"}) == [Change(path="a", before="1 (whole number)", after="1 (text)")]
    assert changes({"a": ""}, {"a": "x"}) == [Change(path="a", before='""', after="x")], "it was there, and empty"


HOSTILE = {
    "amount": "pay \u202e001\u202c EUR",
    "file": "file\u200b.txt",
    "name": "ok" + " " * 300 + "rm -rf",
    "tag": "\U000e0064",
    "text": "</script><img src=x onerror=window.__x=1>\n" + "\n" * 60 + "שלום عليكم \u202eم",
    "<b>key\u202e": True,
}


def test_d07_hidden_and_reordered_text_is_shown_as_codes_and_the_digest_is_over_the_bytes(
    asking: Make, client: Client
) -> None:
    approval = asking(HOSTILE)
    page = page_of(client, approval)
    for code in ("[U+202E]", "[U+202C]", "[U+200B]", "[300 spaces]", "[U+E0064]", "[61 line ends]", "שלום عليكم"):
        assert code in page
    for raw in ("\u202e", "\u200b", "\U000e0064", "<img src=x", "<b>key"):
        assert raw not in page
    assert "8 hidden characters" in page
    answer = client.get(f"/approvals/{approval.id}/call.json")
    assert answer["Content-Disposition"].startswith("attachment")
    assert hashlib.sha256(answer.content).hexdigest() == approval.digest
    assert json.loads(answer.content)["arguments"] == HOSTILE


def test_d09_values_are_shown_with_their_types(asking: Make, client: Client) -> None:
    approval = asking({"a": 1, "b": [2, 1], "c": 1.0, "d": True, "e": "1", "f": None, "g": {}})
    page = page_of(client, approval)
    rows = re.findall(r'<bdi class="value">([^<]*)</bdi>.*?data-label="Type" class="quiet">([^<]+)<', page, re.DOTALL)
    assert rows == [
        ("1", "whole number"), ("2", "whole number"), ("1", "whole number"), ("1.0", "number with a point"),
        ("true", "true or false"), ("1", "text"), ("null", "null"), ("{}", "empty object"),
    ]  # fmt: skip


def test_a_value_from_untrusted_content_shows_where_it_stems_from(asking: Make, client: Client) -> None:
    approval = asking()
    Approval.objects.filter(id=approval.id).update(origin=[{"path": "to", "from": "steps.read.result"}])
    assert "stems from untrusted content: <bdi>steps.read.result</bdi>" in page_of(client, approval)


def test_a_target_that_was_read_again_must_be_seen_before_it_is_approved(
    asking: Make, client: Client, world: World
) -> None:
    approval = asking()
    sent = form(client, approval)
    world.things[approval.effect.key] = {"not": "ours"}
    client.post(f"/approvals/{approval.id}/read")
    shown = page_of(client, approval)
    assert "It is being read now" in shown
    assert news_of(client, approval, shown).status_code == 304
    drain_once()
    place = f"/approvals/{approval.id}/"
    for page, header in ((place, "HX-Refresh"), (f"{place}?whole=1", "HX-Refresh"), (f"{place}approve", "HX-Redirect")):
        said = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{page}"}
        assert header in client.get(f"{place}reading", headers=said), "a form that was sent is not sent again"
    page = page_of(client, approval)
    assert "It has changed since it was first read" in page
    assert "It is there already, with our mark" in page
    status, page = say(client, approval, **sent)
    assert (status, state(approval)) == (409, "asked")
    assert "The target was read again since this page was opened" in page


def test_a_field_of_the_target_named_version_hides_that_its_version_is_another() -> None:
    seen = {"by": "before", "image": {"version": "same"}, "version": "7"}
    assert changed(seen, {**seen, "version": "8"}) == [Change(path="version", before="7", after="8")]
    assert [one.path for one in changed(seen, {**seen, "image": {"version": "new"}})] == ["version"]


def test_d28_decisions_are_counted_as_if_there_were_no_more() -> None:
    row = {"state": "refused", "void_reason": ""}
    assert counted([row] * 50)["more"] is False
    many = counted([row] * 51)
    assert (many["all"], many["no"], many["more"]) == (50, 50, True)


def test_an_old_read_is_made_anew_before_it_is_approved(
    asking: Make, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    approval = asking()
    sent = form(client, approval)
    monkeypatch.setattr(acts, "FRESH", dt.timedelta(seconds=-1))
    assert "read it again before you approve" in page_of(client, approval)
    assert say(client, approval, **sent)[0] == 409
    assert state(approval) == "asked"


def test_a_target_that_cannot_be_read_is_approved_only_by_who_says_so(
    asking: Make, client: Client, world: World
) -> None:
    approval = asking()
    world.script("pay.refund", "look", "unreachable")
    peek.ask(approval.id)
    drain_once()
    page = page_of(client, approval)
    assert "It could not be read" in page
    assert say(client, approval, **form(client, approval))[0] == 400
    say(client, approval, **form(client, approval, unread="yes"))
    assert state(approval) == "granted"


def test_a_tool_without_a_look_is_approved_plainly(asking: Make, client: Client) -> None:
    approval = asking(verify=False)
    assert "Its tool has no way to look" in page_of(client, approval)
    say(client, approval, **form(client, approval))
    assert state(approval) == "granted"


def test_an_approver_is_not_told_what_the_run_goes_on_with_or_that_nothing_waits(
    asking: Make, client: Client, tool: Make, workflow: Make, run_through: Make
) -> None:
    assert "Nothing else of its run waits to be sent." in page_of(client, asking())
    for name in ("crm.contact", "mail.send", "mail.later"):
        tool(name)
    run = run_through(workflow("crm.contact", "pay.refund", "mail.send", "mail.later"))
    page = page_of(client, Approval.objects.get(run=run))
    assert "decided when its turn comes: <bdi>send</bdi>, <bdi>later</bdi>" in page


def news_of(client: Client, approval: Approval, page: str) -> Any:
    """What a page that shows this is answered when it asks for news."""
    headers = {"HX-Request": "true", "If-None-Match": tag_of(page)}
    return client.get(f"/approvals/{approval.id}/reading", headers=headers)


def tag_of(page: str) -> str:
    return unescape(re.findall(r'class="reading"[^>]* data-tag="([^"]+)"', page)[0])


def test_a_page_says_that_a_target_is_being_read_while_no_worker_reads(asking: Make, client: Client) -> None:
    approval, now = asking(), timezone.now()
    peek.ask(approval.id)
    page = page_of(client, approval)
    assert "It is being read now" in page
    Approval.objects.filter(id=approval.id).update(read_due=now - dt.timedelta(seconds=25))
    with CaptureQueriesContext(connection) as seen:
        page = page_of(client, approval)
    assert "No worker has begun to read it yet" in page
    assert len(seen) <= 12
    told = news_of(client, approval, page)
    assert "No worker is reading: none has shown a sign of life" in told.content.decode()
    page = page.replace(escape(tag_of(page)), escape(told["ETag"]))
    assert news_of(client, approval, page).status_code == 304, "it is said once"
    Beat.objects.create(slot="here:1", at=timezone.now())
    assert "No worker has begun to read it yet" in news_of(client, approval, page).content.decode()
    Approval.objects.filter(id=approval.id).update(read_due=now + dt.timedelta(seconds=25))
    assert "It is being read now" in news_of(client, approval, page).content.decode(), "somebody took it"

"""A form that is refused is answered by a page under the act's address: what it leads to must not be led from there."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any
from urllib.parse import urljoin

import pytest
from django.conf import settings
from django.test import Client

from repairs.views.live import is_page
from workflows.models import Tool

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
LED_FROM_HERE = re.compile(r'href="(?:\?[^"]*)?"|<form(?![^>]*action=)[^>]*method="get"[^>]*>')
# Their pages answer no form.
LOOKED_AT_ONLY = {
    "_journal_line.html", "_lanes.html", "_ledger.html", "_news.html", "approvals.html", "bulk_list.html",
    "journal.html", "records_list.html", "run_journal.html", "runs.html", "tool_sends.html",
}  # fmt: skip
ADDRESSES = re.compile(r'<a[^>]* href="([^"#][^"]*)"|<form[^>]*method="get"[^>]*action="([^"]*)"')


def test_a_page_that_may_answer_a_form_leads_on_from_the_acts_address() -> None:
    folder = settings.BASE_DIR / "templates" / "console"
    found = {path.name for path in folder.glob("*.html") if LED_FROM_HERE.search(path.read_text())}
    assert found == LOOKED_AT_ONLY


def test_who_goes_on_from_a_refused_form_is_told_that_it_is_an_act(stuck: Make, person: Make, browse: Make) -> None:
    case, user = stuck(), person("head", "repairer", "approver", "operator", "security")
    user.is_superuser = True
    user.save()
    client: Client = browse(user)
    tool = Tool.objects.earliest("name")
    for act, form in {
        "/repairs/views/save": {"view": "free", "q": "acme", "name": ""},
        "/repairs/batches/new": {"view": "mine", "act": "none"},
        f"/repairs/{case.number}/claim": {"why": "x", "fence": "x"},
        "/stops/freeze": {},
        "/people/create": {},
        f"/tools/{tool.name}/1/withdraw": {},
        "/policies/draft": {},
    }.items():
        answer = client.post(act, form)
        assert (answer.status_code, act) == (400, act)
        for link in ADDRESSES.findall(answer.content.decode()):
            at = urljoin(act, unescape("".join(link))).partition("?")[0].partition("#")[0]
            assert is_page(at) or at.startswith("/admin/"), (act, at)

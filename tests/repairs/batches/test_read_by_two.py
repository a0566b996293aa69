"""The page of a batch that sends: who reads all of it before they say yes, and where its figures lead."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from repairs.acts import claim, proof
from repairs.bulk import running
from repairs.models import Batch
from repairs.models.batch import BatchAct
from tests.engine.simulated import SimTool
from tests.repairs.batches.making import HELD, asked, confirmed, of_cause, text_of
from workflows.drain import drain_once
from workflows.tools.draft import Draft

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def place(batch: Batch, *parts: str) -> str:
    return f"/repairs/batches/{batch.id}/{''.join(parts)}"


def test_who_confirms_has_every_request_before_them_as_who_asked_had(
    held: Make, client: Client, repairer: User, second: User, browse: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    held(2)
    body = "\n".join(f"line {n} of it" for n in range(20))
    monkeypatch.setattr(SimTool, "draft", lambda self, call: [Draft(line=f"DELETE https://crm/{call.key}", body=body)])
    batch = of_cause(repairer, BatchAct.TURN_BACK, HELD)
    first = client.get(place(batch)).content.decode()
    asked(batch, repairer)
    then = browse(second).get(place(batch)).content.decode()
    for page in (first, then):
        assert len(set(re.findall(r"DELETE https://crm/\w+", page))) == page.count("line 19 of it") == 4
        assert page.count("<details open>") >= 2
        assert 'name="preview"' not in page, "nothing can be asked for from a line"
    assert "Confirm: Undo what stands of 2 cases" in then
    assert client.get(place(batch)).content.decode().count("line 19 of it") == 4


def test_a_page_of_many_cases_takes_more_statements_than_of_few_or_more_than_twelve(
    held: Make, client: Client, repairer: User, second: User
) -> None:
    numbers = []
    for _ in range(2):
        held(3)
        batch = of_cause(repairer, BatchAct.TURN_BACK, HELD)
        for then in (lambda: None, lambda b=batch: confirmed(b, repairer, second), running.run, drain_once):
            then()
            for address in (place(batch), place(batch, "progress")):
                client.get(address)  # tools not met before are read once
                with CaptureQueriesContext(connection) as seen:
                    assert client.get(address).status_code == 200
                numbers.append(len(seen))
    assert numbers[: len(numbers) // 2] == numbers[len(numbers) // 2 :]
    assert max(numbers) <= 12


def test_a_figure_leads_to_other_cases_than_it_counts(
    held: Make, client: Client, repairer: User, second: User, person: Make
) -> None:
    cases = held(3)
    batch = of_cause(repairer, BatchAct.TURN_BACK, HELD)
    confirmed(batch, repairer, second)
    claim.claim(cases[0].id, by=person("night desk", "repairer"))
    running.run()
    drain_once()
    page = client.get(place(batch))
    assert "3 of 3 met: 2 undone, verified, 1 skipped." in text_of(page)
    for link, number in re.findall(r'href="([^"]*\?only=[^"]+)"[^>]*>(\d+) ', page.content.decode()):
        listed = client.get(link.replace("&amp;", "&")).content.decode()
        assert listed.count("data-row") == int(number)
        assert "3 of 3 met" in listed
    nothing = client.get(place(batch, "?only=%3Cb%3E")).content.decode()
    assert ("None is like that now." in nothing, "<b>" in nothing) == (True, False)


@pytest.mark.parametrize("how", ["confirm", "alone"])
def test_a_yes_to_what_sends_from_a_screen_left_alone_counts(
    held: Make, client: Client, repairer: User, second: User, browse: Make, settings: Any,
    monkeypatch: pytest.MonkeyPatch, how: str,
) -> None:  # fmt: skip
    settings.FOUR_EYES = "when_possible"
    held(1)
    batch = of_cause(repairer, BatchAct.TURN_BACK, HELD)
    monkeypatch.setattr(proof, "LASTS", proof.LASTS * 0)
    form = {"why": "read it", "digest": batch.digest}
    if how == "confirm":
        asked(batch, repairer)
        client, address = browse(second), place(batch, "confirm")
    else:
        form["how"], address = "alone", place(batch, "ask")
    assert "Your password, once more" in client.get(place(batch)).content.decode()
    answer = client.post(address, form)
    assert (answer.status_code, "enter your password too" in answer.content.decode()) == (403, True)
    assert client.post(address, {**form, "proof": "wrong"}).status_code == 403
    assert Batch.objects.get().state in ("draft", "asked")
    assert client.post(address, {**form, "proof": "a long enough one"}).status_code == 302
    assert Batch.objects.get().state == "running"

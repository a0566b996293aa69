"""The page of a batch: what would be done, how far it is, and what came of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from repairs.acts import claim
from repairs.bulk import running
from repairs.models import Batch
from tests.repairs.batches.making import CAUSE, asked, of_cause, text_of
from workflows.drain import drain_once

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_d02_the_count_on_the_button_is_of_what_was_frozen_and_each_case_says_what_becomes_of_it(
    many: Make, client: Client, person: Make
) -> None:
    cases = many(3)
    claim.claim(cases[0].id, by=person("night desk", "repairer"))
    form = {"act": "look_again", "of": "all", "view": "all", "cause": CAUSE.cause}
    place = client.post("/repairs/batches/new", form)["Location"]
    page = text_of(client.get(place))
    assert "Look again at 2 cases" in page
    assert "2 of 3 would be acted on; skipped: 1 held by others." in page
    assert "night desk holds it until" in page
    batch = Batch.objects.get()
    said = client.post(f"{place}ask", {"why": "it is back", "digest": batch.digest}, follow=True).content.decode()
    assert f"{batch.name} is under way." in said
    running.run()
    page = text_of(client.get(place))
    assert "3 of 3 met: 2 being looked at, 1 skipped." in page
    again = client.post(f"{place}ask", {"why": "it is back", "digest": batch.digest}, follow=True).content.decode()
    assert "nothing is done twice" in again
    drain_once()
    assert "2 still open" in text_of(client.get(place))


def test_nobody_sees_another_s_draft_or_asks_for_it(many: Make, client: Client, person: Make, browse: Make) -> None:
    many(2)
    batch = of_cause(User.objects.get(username="repairer"))
    other = browse(person("night desk", "repairer"))
    place = f"/repairs/batches/{batch.id}/"
    assert [other.get(place).status_code, client.get(place).status_code] == [404, 200]
    assert other.post(f"{place}ask", {"why": "x", "digest": batch.digest}).status_code == 404
    assert client.post(f"{place}ask", {"why": "typed with care", "digest": "0"}).status_code == 409
    assert "typed with care" in client.post(f"{place}ask", {"why": "typed with care"}).content.decode()
    assert Batch.objects.get().state == "draft"


def test_what_moves_of_a_batch_is_answered_once_and_in_few_queries(many: Make, client: Client) -> None:
    many(2)
    batch = of_cause(User.objects.get(username="repairer"))
    place = f"/repairs/batches/{batch.id}/progress"
    for address in (place, f"/repairs/batches/{batch.id}/", "/repairs/batches/"):
        with CaptureQueriesContext(connection) as seen:
            assert client.get(address).status_code == 200
        assert len(seen) <= 12, address
    before = client.get(place)
    assert client.get(place, headers={"If-None-Match": before["ETag"]}).status_code == 304
    asked(batch, User.objects.get(username="repairer"))
    running.run()
    assert client.get(place, headers={"If-None-Match": before["ETag"]}).status_code == 200

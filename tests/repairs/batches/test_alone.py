"""A batch that takes two, done by one: only as a broken glass, kept with it, shown, told, counted and reviewed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from repairs.acts import bulk, proof
from repairs.bulk import choosing, running
from repairs.desk import desk_for
from repairs.models import Act, Batch, Glass, Person
from repairs.models.batch import BatchAct
from tests.engine.simulated import World
from tests.repairs.approvals.pages import rewrite
from tests.repairs.batches.making import HELD, asked, of_cause, text_of
from tests.repairs.receiving import written
from workflows.drain import drain_once
from workflows.errors import Denied
from workflows.models import Agent, Entry, Team

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


@pytest.fixture
def alone(person: Make) -> User:
    user: User = person("alone", "repairer", "emergency")
    return user


@pytest.fixture
def night(alone: User, browse: Make) -> Client:
    client: Client = browse(alone)
    return client


def form(batch: Batch, **more: str) -> dict[str, str]:
    return {"why": "customers are called now", "digest": batch.digest, "how": "alone", **more}


def test_what_sends_goes_alone_without_a_broken_glass_or_one_that_nobody_reviews(
    held: Make, alone: User, night: Client, second: User, browse: Make, told: Make, world: World
) -> None:
    held(2)
    told(manager="json://127.0.0.1:1/a")
    batch = of_cause(alone, BatchAct.TURN_BACK, HELD)
    address, before = f"/repairs/batches/{batch.id}/", len(world.sends)
    assert "You may break the glass and do it alone" in text_of(night.get(address))
    refused = night.post(f"{address}ask", form(batch))
    assert (refused.status_code, Glass.objects.count()) == (403, 0), "nobody said that it can't wait"
    assert night.post(f"{address}ask", form(batch, glass="yes")).status_code == 302
    assert night.post(f"{address}ask", form(batch, glass="yes")).status_code == 302
    kept = Glass.objects.get()
    assert (kept.what, kept.subject, kept.by, kept.why) == ("batch", batch.id, alone, "customers are called now")
    assert written() == [("glass", "manager", kept.team)]
    running.run()
    drain_once()
    assert len(world.sends) == before + 4
    assert set(Act.objects.filter(kind="turn_back").values_list("why", flat=True)) == {
        f"customers are called now ({batch.name}, alone)"
    }
    (payload,) = payloads(batch, "ask")
    assert (payload["alone"], payload["glass"]) == (True, True)
    reviewer = browse(second)
    page = reviewer.get("/reports/alone/")
    assert f"alone let {batch.name} go (Undo what stands, 2 cases), which nobody confirmed" in text_of(page)
    place = re.search(r'<h3><a href="([^"]+)"', page.content.decode())
    assert place
    assert "alone, alone" in text_of(reviewer.get(place[1]))
    assert night.post(f"/reports/alone/{kept.id}/review", {"how": "right", "why": "x"}).status_code == 403
    assert reviewer.post(f"/reports/alone/{kept.id}/review", {"how": "right", "why": "read"}).status_code == 302
    assert "1 in 30 days: 1 right, 0 wrong; 0 to review" in reviewer.get("/reports/").content.decode()


def test_a_batch_that_went_alone_leads_to_no_review_or_does_not_tell_what_came_of_it(
    held: Make, alone: User, night: Client, second: User, browse: Make, settings: Any
) -> None:
    held(2)
    settings.FOUR_EYES = "when_possible"
    other = asked(of_cause(alone, BatchAct.TURN_BACK, HELD), alone, alone=True)
    settings.FOUR_EYES = "required"
    batch = of_cause(alone, BatchAct.TURN_BACK, HELD)
    address = f"/repairs/batches/{batch.id}/"
    night.post(f"{address}ask", form(batch, glass="yes"))
    assert Batch.objects.get(id=batch.id).state == "running"
    place = f"/reports/alone/#glass-{Glass.objects.get().id}"
    with CaptureQueriesContext(connection) as seen:
        page = night.get(address).content.decode()
    assert len(seen) <= 12
    assert f'<a href="{place}">Waits for another person' in page, "while it is under way too"
    assert f'id="{place.partition("#")[2]}"' in browse(second).get("/reports/alone/").content.decode()
    browse(second).post(f"/reports/alone/{Glass.objects.get().id}/review", {"how": "wrong", "why": "they could wait"})
    running.run()
    assert f"wrong {second}" in text_of(night.get(address))
    assert "they could wait" in text_of(night.get(address))
    broke_none = night.get(f"/repairs/batches/{other.id}/").content.decode()
    assert "/reports/alone/" not in broke_none.split("<main")[1]


def payloads(batch: Batch, event: str) -> list[dict[str, Any]]:
    entries = Entry.objects.filter(subject_id=batch.id, event=event).values_list("id", flat=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT data::text FROM workflows_payload WHERE entry_id = ANY(%s)", [list(entries)])
        return [json.loads(data) for (data,) in cursor.fetchall()]


def test_who_has_not_the_role_or_shows_not_who_they_are_breaks_one(
    held: Make, repairer: User, browse: Make, alone: User, night: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    held(1)
    theirs, own = (of_cause(by, BatchAct.TURN_BACK, HELD) for by in (repairer, alone))
    assert "break the glass" not in text_of(browse(repairer).get(f"/repairs/batches/{theirs.id}/"))
    with pytest.raises(Denied, match="emergency"):
        asked(theirs, repairer, alone=True, glass=True)
    monkeypatch.setattr(proof, "LASTS", proof.LASTS * 0)
    address = f"/repairs/batches/{own.id}/"
    assert "Your password, once more" in night.get(address).content.decode()
    assert night.post(f"{address}ask", form(own, glass="yes")).status_code == 403
    assert set(Batch.objects.values_list("state", flat=True)) == {"draft"}
    assert night.post(f"{address}ask", form(own, glass="yes", proof="a long enough one")).status_code == 302
    assert Glass.objects.get().subject == own.id


def test_a_glass_is_broken_where_one_person_is_enough_or_a_second_one_is_asked(
    held: Make, alone: User, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    held(2)
    small = of_cause(alone, BatchAct.CLAIM, HELD)
    with pytest.raises(Denied, match="two people"):
        asked(small, alone, alone=True, glass=True)
    assert asked(small, alone, glass=True).state == "running"
    assert asked(of_cause(alone, BatchAct.TURN_BACK, HELD), alone, glass=True).state == "asked"
    settings.FOUR_EYES = "when_possible"
    assert asked(of_cause(alone, BatchAct.TURN_BACK, HELD), alone, alone=True).alone
    assert not Glass.objects.exists()
    settings.FOUR_EYES = "required"
    monkeypatch.setattr(choosing, "ALONE", 1)
    assert asked(of_cause(alone, BatchAct.CLAIM, HELD), alone, alone=True, glass=True).alone
    assert Glass.objects.get().said.endswith("go (Claim, 2 cases), which nobody confirmed")


def test_who_sees_all_cases_of_a_batch_can_not_review_what_one_did_alone_with_it(
    held: Make, alone: User, person: Make, browse: Make
) -> None:
    one, two = held(2)
    upper = Team.objects.create(name="upper")
    for name, case in (("left", one), ("right", two)):
        Team.objects.create(name=name, parent=upper)
        agent = Agent.objects.create(name=name, tools=["*"], workflows=["*"], team=name)
        rewrite("UPDATE repairs_case SET agent_id = %s WHERE id = %s", agent.id, case.id)
    batch = of_cause(alone, BatchAct.TURN_BACK, HELD)
    bulk.ask(batch.id, by=alone, why="it burns", digest=batch.digest, alone=True, glass=True)
    seen = {}
    for name in ("left", "upper"):
        user = person(name, "approver")
        Person.objects.create(user=user).teams.add(Team.objects.get(name=name))
        seen[name] = batch.name in text_of(browse(user).get("/reports/alone/"))
    assert seen == {"left": False, "upper": True}


def test_the_page_of_a_batch_that_can_go_alone_takes_more_than_twelve_queries(
    held: Make, alone: User, night: Client
) -> None:
    held(2)
    batch = of_cause(alone, BatchAct.TURN_BACK, HELD)
    night.get(f"/repairs/batches/{batch.id}/")
    with CaptureQueriesContext(connection) as seen:
        assert night.get(f"/repairs/batches/{batch.id}/").status_code == 200
    assert len(seen) <= 12
    assert desk_for(alone).breaks

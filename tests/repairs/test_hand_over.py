"""Handing a case over: it is the sender's until the receiver has said in their own words what they were told."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from config import notices
from repairs.acts import claim, hand_over, look_again, note, snooze
from repairs.colleagues import colleagues
from repairs.models import Act, Case, Notice, Person, Presence
from repairs.models.act import ActKind
from tests.repairs.previews import proposed
from workflows import rows
from workflows.errors import Denied, Invalid, StaleFence
from workflows.models import Effect, Entry, Team

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
WORDS = {"severity": "watch", "situation": "they call\nback at six", "contingency": "if they don't, call them"}


def now_of(case: Case) -> Case:
    return Case.objects.select_related("run__agent").get(id=case.id)


def hand(case: Case, by: User, to: str = "night-desk", **more: str) -> None:
    hand_over.hand_over(case.id, by=by, to=to, fence=now_of(case).fence, **{**WORDS, **more})


def accept(case: Case, by: User, synthesis: str = "wait for six, then call", as_of: str = "") -> None:
    hand_over.accept(case.id, by=by, synthesis=synthesis, as_of=as_of or now_of(case).as_of)


def test_a_case_changes_hands_before_it_was_read_back(stuck: Make, day: User, night: User, settings: Any) -> None:
    settings.NOTICES = notices.receivers("sim-desk=json://127.0.0.1:1/x")
    case, effect = stuck(), Effect.objects.get(state="stuck")
    hand(case, day)
    assert (now_of(case).claimed_by, now_of(case).handed_to) == (day, night)
    until = now_of(case).lease_until
    assert until is not None
    assert until > rows.now() + dt.timedelta(hours=11), "the sender may go home"
    with pytest.raises(StaleFence, match="day-desk holds"):
        look_again.look_again(case.id, effect_id=effect.id, by=night, why="x", fence=now_of(case).fence)
    claim.claim(case.id, by=day)
    assert now_of(case).lease_until == until, "their own work makes it no shorter"
    act = Act.objects.get(kind="hand_over")
    assert (act.facts["situation"], act.facts["contingency"]) == (WORDS["situation"], WORDS["contingency"])
    assert act.facts["summary"][0].startswith(
        "undoing of contact (crm.contact): wanted gone; seen still there: not undone"
    )
    assert any(line.startswith("Next safe act: Look again.") for line in act.facts["summary"])
    assert Notice.objects.filter(what="hand_over", subject=case.id).count() == 1
    accept(case, night)
    assert (now_of(case).claimed_by, now_of(case).handed_to) == (night, None)
    with pytest.raises(StaleFence, match="night-desk holds"):
        look_again.look_again(case.id, effect_id=effect.id, by=day, why="x", fence=1)
    read = Act.objects.get(kind="accept")
    assert (read.answers, read.why, read.by) == (act, "wait for six, then call", night)
    assert Entry.objects.filter(subject_id=case.id, event="accept", actor="person:night-desk").exists()


def test_who_is_handed_a_case_is_told_to_take_it_over(stuck: Make, day: User, night: User, browse: Make) -> None:
    case = stuck()
    hand(case, day)
    page = browse(night).get(f"/repairs/{case.number}/").content.decode()
    assert "day-desk</bdi> holds this case until you have read it back." in page
    assert "take it over before you act" not in page
    for who in (day, night):
        page = browse(who).get(f"/repairs/{case.number}/").content.decode()
        assert ("or until it is read back" in page, "renews it" in page) == (True, False), (
            "12 h that nobody's work renews"
        )


def test_somebody_else_reads_it_back_or_a_receiver_says_nothing_of_their_own(
    stuck: Make, day: User, night: User, person: Make
) -> None:
    case = stuck()
    with pytest.raises(StaleFence, match="not being handed over"):
        accept(case, night)
    hand(case, day)
    for other in (day, person("third", "repairer")):
        with pytest.raises(Denied, match="not handed to you"):
            accept(case, other)
    for synthesis in ("", "  \u200b ", "x" * 2001, "they call\x00"):
        with pytest.raises(Invalid):
            accept(case, night, synthesis)
    with pytest.raises(Invalid, match="own words"):
        accept(case, night, "They call back  at SIX")
    assert now_of(case).claimed_by == day


def test_what_changed_while_they_read_is_accepted_unseen(stuck: Make, day: User, night: User) -> None:
    case = stuck()
    hand(case, day)
    seen = now_of(case).as_of
    proposed(case, day)
    with pytest.raises(StaleFence, match="changed while you read"):
        accept(case, night, as_of=seen)
    accept(case, night)


def test_who_handed_it_over_and_writes_a_note_loses_it_before_the_receiver_comes(
    stuck: Make, day: User, night: User
) -> None:
    case = stuck()
    hand(case, day)
    until = now_of(case).lease_until
    note.note(case.id, kind=ActKind.FACT, by=day, text="they rang once more")
    assert (now_of(case).lease_until, now_of(case).handed_to) == (until, night)


def test_a_hand_over_can_not_be_declined_or_withdrawn_or_says_not_why(
    stuck: Make, day: User, night: User, browse: Make, person: Make
) -> None:
    case = stuck()
    hand(case, day)
    with pytest.raises(Denied):
        hand_over.decline(case.id, by=person("third", "repairer"), why="x")
    with pytest.raises(Invalid):
        hand_over.decline(case.id, by=night, why=" ")
    hand_over.decline(case.id, by=night, why="I leave at five")
    assert (now_of(case).claimed_by, now_of(case).handed_to) == (day, None)
    until = now_of(case).lease_until
    assert until is not None
    assert until <= rows.now() + dt.timedelta(minutes=15)
    said = f"declined your hand-over of C-{case.number}"
    assert said in browse(day).get("/").content.decode()
    hand(case, day)
    hand_over.decline(case.id, by=day, why="it is done in a minute")
    assert Act.objects.filter(kind="withdraw_hand_over").count() == 1
    with pytest.raises(StaleFence, match="not being handed over"):
        accept(case, night)


def test_a_case_is_handed_over_with_less_than_all_that_must_be_said(stuck: Make, day: User, night: User) -> None:
    case = stuck()
    for name in WORDS:
        with pytest.raises(Invalid) as refused:
            hand(case, day, **{name: " "})
        assert [flaw.path for flaw in refused.value.flaws] == [name]
    for to in ("", "day-desk", "nobody"):
        with pytest.raises(Invalid, match="handed anything"):
            hand(case, day, to)
    hand(case, day)
    with pytest.raises(StaleFence, match="already"):
        hand(case, day)
    with pytest.raises(StaleFence, match="being handed over"):
        snooze.snooze(case.id, by=day, why="x", cause="later", until="1h", fence=1)
    assert Act.objects.filter(kind="hand_over").count() == 1


def test_the_ends_of_lines_that_a_browser_sends_are_shown_as_hidden_characters(
    stuck: Make, day: User, night: User, browse: Make
) -> None:
    case = stuck()
    hand(case, day, situation="they call\r\nback at six")
    page = browse(night).get(f"/repairs/{case.number}/read-back").content.decode()
    assert "they call\nback at six" in page
    assert "U+000" not in page
    accept(case, night, "they call\r\nat six")
    page = browse(night).get(f"/repairs/{case.number}/").content.decode()
    assert "they call back at six" in page
    assert "they call at six" in page
    assert "U+000" not in page


def test_who_takes_it_over_meanwhile_leaves_a_hand_over_behind(
    stuck: Make, day: User, night: User, person: Make
) -> None:
    case, third = stuck(), person("third", "repairer")
    hand(case, day)
    claim.claim(case.id, by=third, why="it burns")
    assert now_of(case).handed_to is None
    with pytest.raises(StaleFence, match="not being handed over"):
        accept(case, night)
    hand(case, third)
    claim.release(case.id, by=third)
    assert now_of(case).handed_to is None


def test_who_could_work_on_it_is_asked_for_person_by_person(stuck: Make, day: User) -> None:
    case = stuck()
    with CaptureQueriesContext(connection) as seen:
        colleagues(case, day)
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN " + seen[-1]["sql"])
        plan = "\n".join(line for (line,) in cursor.fetchall())
    (conditions,) = re.findall(r"Filter: (.*SubPlan.*)", plan)
    assert conditions.count("SubPlan") == conditions.count("hashed SubPlan") == 4


def test_it_is_handed_to_somebody_who_may_not_see_or_repair_it(stuck: Make, day: User, person: Make) -> None:
    case = now_of(stuck())
    top = Team.objects.create(name="top")
    own = Team.objects.get(name=case.run.agent.team)
    Team.objects.filter(id=own.id).update(parent=top)
    for name, roles, team in [
        ("all-desk", ["repairer"], None), ("own-desk", ["repairer"], own), ("top-desk", ["repairer"], top),
        ("other-desk", ["repairer"], Team.objects.create(name="other")), ("reader", ["manager"], None),
        ("admin", ["repairer", "admin"], None), ("gone", ["repairer"], None), ("agent", ["repairer"], None),
    ]:  # fmt: skip
        user = person(name, *roles)
        if team:
            Person.objects.create(user=user).teams.add(team)
    User.objects.filter(username="gone").update(is_active=False)
    User.objects.filter(username="agent").update(is_staff=False)
    assert colleagues(case, day) == ["all-desk", "own-desk", "top-desk"]


def test_the_pages_lose_what_was_typed_or_home_keeps_silent(stuck: Make, day: User, night: User, browse: Make) -> None:
    case, days, nights = stuck(), browse(day), browse(night)
    page = f"/repairs/{case.number}/hand-over"
    assert "Next safe act: Look again." in days.get(page).content.decode()
    form = {"to": "night-desk", "fence": case.fence, **WORDS}
    refused = days.post(f"{page}/send", {**form, "contingency": ""})
    assert refused.status_code == 400
    assert "contingency: says nothing" in refused.content.decode()
    assert WORDS["situation"] in refused.content.decode()
    assert days.post(f"{page}/send", form).status_code == 302
    assert "1 hand-over waits for your read-back." in nights.get("/").content.decode()
    assert "your read-back" not in days.get("/").content.decode()
    assert "Handed to <bdi>night-desk</bdi>" in nights.get("/repairs/?view=handed").content.decode()
    address = f"/repairs/{case.number}/read-back"
    with CaptureQueriesContext(connection) as seen:
        assert WORDS["contingency"].replace("'", "&#x27;") in nights.get(address).content.decode()
    assert len(seen) <= 12
    refused = nights.post(f"{address}/accept", {"synthesis": "I wait until six", "as_of": "1.1"})
    assert refused.status_code == 409
    assert "I wait until six" in refused.content.decode()
    nights.post(f"{address}/accept", {"synthesis": "I wait until six", "as_of": now_of(case).as_of})
    assert now_of(case).claimed_by == night
    assert f"read C-{case.number} back; it is theirs now." in days.get("/").content.decode()
    assert Presence.objects.get(user=day).how == "accepted"
    assert nights.get(address).status_code == 409

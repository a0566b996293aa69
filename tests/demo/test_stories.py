"""The demo's five stories, played through the API alone; calendar, mailbox, CRM, audience and the run must agree.

Each is a page of the manual: what happened outside, and what Makegood says of it.
"""

from __future__ import annotations

import dataclasses

import pytest
from django.utils import timezone

from examples.demo.agent import STORIES, Api, begin, follow, kill_in_the_middle, play
from repairs.models import Case
from repairs.reading import reasons_of
from repairs.views.case import lines_of
from repairs.words.advice import next_safe_act
from tests.demo.conftest import Json
from tests.demo.sights import Outside, Sight
from tests.demo.worker import Worker


def effects(run: Json) -> dict[str, tuple[str, str, str]]:
    """{"step kind": (state, world, reason)}"""
    return {f"{e['step']} {e['kind']}": (e["state"], e["world"], e["reason"]) for e in run["effects"]}


def attempts(api: Api, run: Json, step: str, kind: str = "forward") -> list[str]:
    """The outcomes of its sends."""
    (effect,) = [e for e in run["effects"] if e["step"] == step and e["kind"] == kind]
    return [a["outcome"] for a in api.call("GET", f"effects/{effect['id']}")["attempts"]]


def read_by_a_person(case_id: str) -> Json:
    """What the case's page says: the sentence, the next safe act, and for each stuck effect the unsafe acts."""
    case = Case.objects.select_related("run").get(id=case_id)
    lines = lines_of(case, timezone.now())
    act = next_safe_act([line.fact for line in lines], reasons_of(case.run))
    return {
        "sentence": case.sentence,
        "next": f"{act.name}: {act.why}",
        "unsafe": [f"{unsafe.name}: {unsafe.why}" for line in lines for unsafe in line.unsafe],
    }


VERIFIED = ("verified", "present", "")
UNDONE = ("undone", "gone", "")
STEPS = ("crm", "audience", "booking", "mail", "activate")


@pytest.mark.usefixtures("at_work")
def test_story_1_all_goes_well_and_every_effect_was_seen_outside(api: Api, there: Outside) -> None:
    run = play(api, 1)
    assert (run["state"], run["clean"], run["residue"], run["cases"]) == ("completed", True, [], [])
    assert effects(run) == {f"{step} forward": VERIFIED for step in STEPS}
    assert there.sight(STORIES[1].email) == Sight(contacts=1, active=1, members=1, events=1, mails=1)
    (contact,) = there.contacts(STORIES[1].email)
    assert run["steps"][0]["result"] == {"id": contact["id"]}
    assert run["effects"][0]["key"] == contact["reference"]


@pytest.mark.usefixtures("at_work")
def test_story_2_a_booking_whose_answer_is_lost_is_looked_up_and_not_made_twice(api: Api, there: Outside) -> None:
    run = play(api, 2)
    assert attempts(api, run, "booking") == ["unknown"]
    assert effects(run)["booking forward"] == VERIFIED
    assert (run["state"], run["clean"], run["residue"], run["cases"]) == ("completed", True, [], [])
    assert there.sight(STORIES[2].email) == Sight(contacts=1, active=1, members=1, events=1, mails=1)


@pytest.mark.usefixtures("at_work")
def test_story_3_a_refusal_at_the_end_undoes_all_before_it_and_states_the_mail_as_residue(
    api: Api, there: Outside
) -> None:
    run = play(api, 3)
    assert (run["state"], run["clean"], run["cases"]) == ("compensated_with_residue", False, [])
    found = effects(run)
    assert found.pop("activate forward")[:2] == ("failed", "nothing")
    assert found.pop("mail forward") == VERIFIED
    undone = ("crm", "audience", "booking")
    expected = {f"{step} forward": UNDONE for step in undone} | {f"{step} compensation": VERIFIED for step in undone}
    assert {name: row[:2] for name, row in found.items()} == {name: row[:2] for name, row in expected.items()}
    statements = [r["statement"] for r in run["residue"]]
    assert "onboarding@cobalt.example has our mail that confirms the meeting on 2031-05-06T10:00." in statements
    assert there.sight(STORIES[3].email) == Sight(contacts=0, active=0, members=0, events=0, mails=1)


@pytest.mark.usefixtures("at_work")
def test_story_4_a_meeting_that_cannot_be_cancelled_opens_a_case_and_keeps_what_depends_on_it(
    api: Api, there: Outside
) -> None:
    run = play(api, 4)
    assert (run["state"], run["clean"], run["phase"]) == ("stuck", None, "unwinding")
    found = effects(run)
    assert found["booking compensation"] == ("stuck", "nothing", "refused")
    assert found["audience forward"] == UNDONE  # it doesn't depend on the meeting
    assert found["booking forward"] == VERIFIED  # a stuck undoing takes nothing away from what stands
    assert found["crm forward"] == VERIFIED  # the meeting still needs its contact
    assert there.sight(STORIES[4].email) == Sight(contacts=1, active=0, members=0, events=1, mails=1)
    (case,) = run["cases"]
    assert case["owner"] == "calendar-desk"
    assert read_by_a_person(case["id"]) == {
        "sentence": "Delta: a meeting with onboarding@delta.example on 2031-05-06T10:00 stands in the calendar,"
        " although it should be gone; the provider refused for good to undo it.",
        "next": "Look again: First ask calendar-desk to undo it at the provider by hand;"
        " then look again, which only reads.",
        "unsafe": [
            "Write off: It leaves in the world what should be gone. The customer can see it.",
        ],
    }


@pytest.mark.usefixtures("at_work")
def test_after_the_mail_a_run_that_is_not_all_or_nothing_asks_a_person_before_it_undoes_anything(
    api: Api, there: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STORIES, 3, dataclasses.replace(STORIES[3], workflow="client-onboarding"))
    run = play(api, 3, "held@cobalt.example")
    assert (run["state"], run["clean"]) == ("stuck", None)
    assert there.sight("held@cobalt.example") == Sight(contacts=1, active=0, members=1, events=1, mails=1)
    (case,) = run["cases"]
    assert read_by_a_person(case["id"])["next"] == (
        "Undo what stands: Decide whether what stands stays."
        " If not, what can be undone is undone, in order, and looked at."
    )


@pytest.mark.usefixtures("at_work")
@pytest.mark.parametrize(
    ("email", "step"),
    [("new@flint.example", "mail"), ("new@gale.example", "audience"), ("new@bolt.example", "booking")],
)
def test_whatever_the_answer_looked_like_one_look_settles_it(api: Api, there: Outside, email: str, step: str) -> None:
    run = play(api, 1, email)
    assert (run["state"], run["clean"]) == ("completed", True)
    assert attempts(api, run, step) == ["unknown"]
    assert there.sight(email) == Sight(contacts=1, active=1, members=1, events=1, mails=1)


def test_story_5_a_worker_killed_in_the_middle_loses_nothing_and_doubles_nothing(
    api: Api, there: Outside, at_work: Worker
) -> None:
    run = begin(api, 5)
    while not there.contacts(STORIES[5].email):  # from now on the CRM holds its answer
        assert at_work.alive
    kill_in_the_middle(api, run["id"], at_work.pid)
    at_work.wait()
    at_work.start()
    run = follow(api, run)
    assert attempts(api, run, "crm") == [""]  # who made it is dead: it never came to an outcome
    assert (run["state"], run["clean"], run["cases"]) == ("completed", True, [])
    assert there.sight(STORIES[5].email) == Sight(contacts=1, active=1, members=1, events=1, mails=1)


@pytest.mark.usefixtures("at_work")
def test_a_story_played_again_is_the_same_run_and_changes_nothing_outside(api: Api, there: Outside) -> None:
    email = "again@acme.example"
    first, again = play(api, 1, email), play(api, 1, email)
    assert first == again
    assert there.sight(email) == Sight(contacts=1, active=1, members=1, events=1, mails=1)

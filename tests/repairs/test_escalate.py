"""Asking for help with a case, by a person or because its time runs out; who is told, and who answers."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from config import notices
from repairs import worklist
from repairs.acts import claim, escalate
from repairs.models import Act, Case, Notice, Person
from repairs.notices import nearing
from tests.engine.simulated import World
from workflows import rows, tasks
from workflows.errors import Denied, Invalid, StaleFence
from workflows.models import Entry, Team

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
HOUR = dt.timedelta(hours=1)


def now_of(case: Case) -> Case:
    return Case.objects.get(id=case.id)


def gone(case: Case, part: float) -> None:
    """As if that part of its ten hours were over."""
    opened = rows.now() - part * 10 * HOUR
    Case.objects.filter(id=case.id).update(opened_at=opened, deadline=opened + 10 * HOUR)


def told(what: str) -> list[str]:
    return sorted(notice.to.partition(":")[0] for notice in Notice.objects.filter(what=what))


def test_an_escalation_is_kept_nowhere_told_to_nobody_or_takes_the_case_away(
    stuck: Make, repairer: User, person: Make, browse: Make, settings: Any
) -> None:
    settings.NOTICES = notices.receivers("\n".join(f"{n}=json://127.0.0.1:1/{n}" for n in ("approver", "manager")))
    case, client = stuck(), browse(repairer)
    claim.claim(case.id, by=repairer)
    form = {"to": "approver", "why": "may we leave it?"}
    assert client.post(f"/repairs/{case.number}/escalate", form).status_code == 302
    act = Act.objects.get(kind="escalate")
    assert (act.why, act.detail, act.outcome) == ("may we leave it?", "to approver", "proposed")
    assert (now_of(case).escalated_to, now_of(case).claimed_by) == ("approver", repairer)
    assert told("escalation") == ["approver"]
    assert "Escalated to <bdi>approver</bdi>." in client.get("/repairs/?view=escalated").content.decode()
    again = client.post(f"/repairs/{case.number}/escalate", {**form, "to": "manager"})
    assert (again.status_code, "already" in again.content.decode()) == (409, True)
    other = browse(person("night-desk", "repairer"))
    assert other.post(f"/repairs/{case.number}/answer", {"why": "no"}).status_code == 403
    asked = browse(person("chief", "approver"))
    page = asked.get(f"/repairs/{case.number}/").content.decode()
    assert "<blockquote><bdi>may we leave it?</bdi></blockquote>" in page
    assert "Your answer" in page
    asked.post(f"/repairs/{case.number}/answer", {"why": "yes, leave it"})
    assert Act.objects.get(kind="answer").answers == act
    assert (now_of(case).escalated_to, now_of(case).escalated_by) == ("", None)
    assert asked.post(f"/repairs/{case.number}/answer", {"why": "yes"}).status_code == 409


def test_a_case_is_escalated_to_nobody_or_without_a_word(
    stuck: Make, repairer: User, person: Make, browse: Make, world: World
) -> None:
    case = stuck()
    for to in ("", "nobody", "auditor", "approver\x00"):
        with pytest.raises(Invalid, match="no such role or team"):
            escalate.escalate(case.id, by=repairer, to=to, why="x")
    with pytest.raises(Invalid, match="Say why"):
        escalate.escalate(case.id, by=repairer, to="manager", why=" ")
    with pytest.raises(Denied):
        escalate.escalate(case.id, by=person("reader", "manager"), to="approver", why="x")
    refused = browse(repairer).post(f"/repairs/{case.number}/escalate", {"to": "nobody", "why": "typed with care"})
    page = refused.content.decode()
    assert refused.status_code == 400
    assert 'value="nobody"' in page
    assert "typed with care" in page
    assert now_of(case).escalated_to == ""


def test_help_is_asked_for_with_a_case_that_is_closed(stuck: Make, repairer: User) -> None:
    case = stuck()
    Case.objects.filter(id=case.id).update(state="resolved", closed_at=case.opened_at)
    with pytest.raises(StaleFence, match="nobody's help is needed"):
        escalate.escalate(case.id, by=repairer, to="manager", why="x")
    assert now_of(case).escalated_to == ""


def test_a_team_that_was_asked_can_not_answer_or_another_can(
    stuck: Make, repairer: User, person: Make, browse: Make
) -> None:
    case = stuck()
    above = Team.objects.get(name=case.run.agent.team)
    Team.objects.create(name="second-line", parent=above)
    upper, all_teams = person("upper-desk", "repairer"), person("all-desk", "repairer")
    Person.objects.create(user=upper).teams.add(above)
    escalate.escalate(case.id, by=repairer, to="second-line", why="you know this provider")
    assert "Your answer" in browse(upper).get(f"/repairs/{case.number}/").content.decode()
    assert "Your answer" in browse(all_teams).get(f"/repairs/{case.number}/").content.decode(), "who sees all is of all"
    own = person("own-desk", "repairer")
    Person.objects.create(user=own).teams.add(above)
    Team.objects.filter(name="second-line").update(parent=None)
    assert "Your answer" not in browse(own).get(f"/repairs/{case.number}/").content.decode(), "it was not their team"
    approver = browse(person("chief", "approver"))
    assert "Your answer" not in approver.get(f"/repairs/{case.number}/").content.decode()


@pytest.mark.parametrize(
    ("part", "step", "to", "heard"),
    [
        (0.4, 0, "", []),
        (0.6, 50, "", ["repairer"]),
        (0.85, 80, "approver", ["approver", "repairer"]),
        (1.05, 100, "manager", ["approver", "manager", "repairer"]),
    ],
)
def test_time_runs_out_in_silence(
    stuck: Make, settings: Any, part: float, step: int, to: str, heard: list[str]
) -> None:
    names = ("repairer", "approver", "manager")
    settings.NOTICES = notices.receivers("\n".join(f"{name}=json://127.0.0.1:1/{name}" for name in names))
    case = stuck()
    gone(case, part)
    for _ in range(2):
        tasks.sweep()
    assert (now_of(case).time_told, now_of(case).escalated_to, told("deadline")) == (step, to, heard)
    events = Entry.objects.filter(subject_id=case.id, event__in=["half_gone", "nearly_gone", "late"])
    assert events.count() == (1 if step else 0), "each step once"


def test_cases_of_which_nobody_is_to_hear_or_did_already_keep_others_from_being_told(
    stuck: Make, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sweep takes some and leaves the rest to the next one, which must not find the same ones again."""
    settings.NOTICES = notices.receivers("manager=json://127.0.0.1:1/m")
    monkeypatch.setattr(nearing, "MOST", 1)
    cases = [stuck() for _ in range(3)]
    for case, part in zip(cases, (0.6, 1.05, 1.05), strict=True):
        gone(case, part)
    for _ in cases:
        tasks.sweep()
    heard = Notice.objects.filter(what="deadline").values_list("subject", flat=True)
    assert sorted(heard) == [case.id for case in cases[1:]]


def test_the_engine_takes_back_whom_a_person_asked_or_asks_for_the_closed(
    stuck: Make, repairer: User, world: World
) -> None:
    case = stuck()
    gone(case, 0.85)
    escalate.sweep_times()
    escalate.escalate(case.id, by=repairer, to="operator", why="the provider is down")
    gone(case, 1.05)
    escalate.sweep_times()
    assert (now_of(case).escalated_to, now_of(case).time_told) == ("operator", 100)
    Case.objects.filter(id=case.id).update(state="resolved", closed_at=rows.now(), time_told=0)
    assert escalate.sweep_times() == 0


def test_what_was_escalated_stays_so_after_the_case_was_closed_and_opened_again(
    stuck: Make, repairer: User, world: World
) -> None:
    case = stuck()
    gone(case, 1.05)
    escalate.sweep_times()
    closed = now_of(case)
    closed.resolve(at=rows.now())
    assert closed.escalated_to == ""
    closed.event = ""
    closed.reopen(at=rows.now())
    assert closed.time_told == 0


def test_telling_the_time_of_many_takes_more_statements_than_of_one(stuck: Make) -> None:
    def taken(number: int) -> int:
        for _ in range(number):
            gone(stuck(), 0.6)
        with CaptureQueriesContext(connection) as seen:
            assert escalate.sweep_times() == number
        return len(seen)

    assert taken(1) == taken(4)


def test_the_figure_of_escalated_cases_is_another_than_its_rows(stuck: Make, repairer: User) -> None:
    case, at = stuck(), rows.now()
    stuck()
    escalate.escalate(case.id, by=repairer, to="manager", why="x")
    assert worklist.counts(Case.objects.all(), at, repairer.pk)["escalated"] == 1
    with pytest.raises(StaleFence):
        escalate.escalate(case.id, by=repairer, to="manager", why="x")

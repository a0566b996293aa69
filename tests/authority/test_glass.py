"""Breaking the glass: one person alone does what takes two, and another reviews it; whose word counts for nothing."""

from __future__ import annotations

import datetime as dt
import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from config import notices
from repairs.acts import glass
from repairs.acts import proof as shown
from repairs.desk import desk_for
from repairs.models import Case, Glass, Notice, Person
from repairs.models.glass import Broken
from repairs.notices import nearing
from repairs.views import reviews
from tests.authority.asking import drafted
from tests.authority.purse import give
from tests.engine.simulated import World
from tests.repairs.approvals.pages import form, page_of, rewrite, say, state
from tests.repairs.conftest import stuck
from tests.repairs.previews import off
from workflows import proof, rows
from workflows.authority import policies, raising, stops
from workflows.drain import drain_once
from workflows.errors import Denied
from workflows.models import Approval, ApprovalVote, BudgetChange, Effect, Entry, Run, Stop, Team

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
ALL = "policy: next\nrules:\n  - {name: all, when: 'true', then: allow}\nexpect: [{verdict: allow}]"
__all__ = ["stuck"]


@pytest.fixture
def alone(person: Make) -> User:
    """Somebody whom nobody can help now, and who may break the glass."""
    user: User = person("alone", "repairer", "approver", "operator", "emergency")
    return user


@pytest.fixture
def night(alone: User, browse: Make) -> Client:
    client: Client = browse(alone)
    return client


def frozen(by: str = "person:alone") -> Stop:
    return stops.freeze("everything", "", by=by, why="odd answers").stop


def asked(by: str = "person:alone") -> BudgetChange:
    give("agent:sim", calls=10)
    _, change = raising.change("agent:sim", "ever", {"calls": 20}, by=by, why="a busy night")
    assert change
    return change


def stuck_effect(case: Case, by: User) -> dict[str, str]:
    effect = Effect.objects.get(run=case.run, state="stuck")
    told = {"how": "alone", "fence": str(case.fence), "effect": str(effect.id), "seq": str(effect.seq)}
    return {**told, "preview": off(case, effect.id, by)}


def ways(stuck: Make, by: User) -> list[tuple[str, str, dict[str, str]]]:
    """Each act that takes two, as one person would do both parts: what it is, its address, its form."""
    case = stuck()
    return [
        ("stop", f"/stops/{frozen().id}/lift", {}),
        ("policy", f"/policies/{drafted(ALL, by='person:alone').id}/activate", {}),
        ("budget", f"/budgets/changes/{asked().id}/confirm", {}),
        ("write_off", f"/repairs/{case.number}/write-off", stuck_effect(case, by)),
    ]


def test_who_breaks_the_glass_does_alone_what_takes_two_and_another_reviews_it(
    stuck: Make, night: Client, second: Client, alone: User
) -> None:
    for what, address, sent in ways(stuck, alone):
        refused = night.post(address, {**sent, "why": "it burns"})
        assert (refused.status_code, Glass.objects.count()) == (403, 0), f"{what}: nobody said that it can't wait"
        done = night.post(address, {**sent, "why": "it burns", "glass": "yes"})
        assert done.status_code == 302, (what, done.content.decode()[:2000])
        kept = Glass.objects.get()
        assert (kept.what, kept.by, kept.why, kept.reviewed_at) == (what, alone, "it burns", None)
        assert kept.due_at - kept.at == dt.timedelta(hours=24)
        page = second.get("/reports/alone/").content.decode()
        assert kept.said.partition(",")[0] in page.replace("<bdi>", "").replace("</bdi>", "")
        place = re.search(r'<h3><a href="([^"]+)"', page)
        assert place
        assert second.get(place[1]).status_code == 200
        assert second.post(f"/reports/alone/{kept.id}/review", {"how": "right", "why": "seen"}).status_code == 302
        assert list(Entry.objects.filter(subject_id=kept.id).order_by("seq").values_list("event", "actor")) == [
            ("break", "person:alone"),
            ("review", "person:second"),
        ]
        rewrite("DELETE FROM repairs_glass")
    entries = Entry.objects.filter(event__in=("lift", "activate", "raise")).values_list("id", flat=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT data FROM workflows_payload WHERE entry_id = ANY(%s)", [list(entries)])
        assert all('"glass": true' in str(data) or "'glass': True" in str(data) for (data,) in cursor.fetchall())
    assert Stop.objects.get().alone
    assert BudgetChange.objects.get().alone


def test_without_the_role_or_its_word_no_glass_is_broken(
    stuck: Make, person: Make, browse: Make, settings: Any
) -> None:
    user = person("alone", "repairer", "approver", "operator")
    client, tried = browse(user), ways(stuck, user)
    for what, address, sent in tried:
        assert client.post(address, {**sent, "why": "it burns", "glass": "yes"}).status_code == 403, what
    settings.FOUR_EYES = "when_possible"
    for what, address, sent in tried:
        assert client.post(address, {**sent, "why": "nobody else is here"}).status_code == 302, what
    assert not Glass.objects.exists(), "where one person may act nothing is broken"


def test_who_shows_not_again_who_they_are_breaks_nothing(night: Client) -> None:
    session = night.session
    session[shown.PROVED] = {**session[shown.PROVED], "at": session[shown.PROVED]["at"] - 301}
    session.save()
    stop = frozen()
    assert 'name="proof"' in night.get("/stops/").content.decode()
    sent = {"why": "it burns", "glass": "yes"}
    assert night.post(f"/stops/{stop.id}/lift", sent).status_code == 403
    assert Stop.objects.get().state == "frozen"
    assert night.post(f"/stops/{stop.id}/lift", {**sent, "proof": "a long enough one"}).status_code == 302


@pytest.fixture
def refund(world: World, tool: Make, workflow: Make, run_through: Make) -> Approval:
    """What is done on behalf of who is alone, and asked about."""
    tool("pay.refund", autonomy="ask", effect_class="irreversible", undo=False)
    run: Run = run_through(workflow("pay.refund"))
    approval = Approval.objects.select_related("effect__agent").get(run=run)
    rewrite("UPDATE workflows_agent SET on_behalf_of = 'person:alone', team = 'pay' WHERE id = %s", approval.agent_id)
    return approval


def test_what_one_asked_for_is_approved_alone_only_with_a_broken_glass(
    refund: Approval, night: Client, world: World
) -> None:
    page = page_of(night, refund)
    assert "You may break the glass" in page
    assert "another person must approve it" in page
    assert say(night, refund, **form(night, refund))[0] == 403
    say(night, refund, **form(night, refund, glass="yes"))
    assert state(refund) == "granted"
    vote, kept = ApprovalVote.objects.get(), Glass.objects.get()
    assert (vote.alone, kept.what, kept.subject, kept.team) == (True, "approval", refund.id, "pay")
    drain_once()
    assert len(world.sends) == 1


def test_a_review_is_another_person_s_and_said_once(night: Client, second: Client, person: Make, browse: Make) -> None:
    night.post(f"/stops/{frozen().id}/lift", {"why": "it burns", "glass": "yes"})
    address = f"/reports/alone/{Glass.objects.get().id}/review"
    assert "You did it; another person reviews it." in night.get("/reports/alone/").content.decode()
    assert night.post(address, {"how": "right", "why": "I was"}).status_code == 403
    fixer = person("fixer", "repairer")
    assert browse(fixer).post(address, {"how": "right", "why": "fine"}).status_code == 403
    with pytest.raises(Denied):
        glass.review(desk_for(fixer), Glass.objects.get().id, verdict="right", words="fine")
    for sent in ({"how": "right", "why": ""}, {"how": "", "why": "typed with care"}):
        refused = second.post(address, sent)
        assert refused.status_code == 400
    assert "typed with care" in refused.content.decode()
    assert second.post(address, {"how": "wrong", "why": "they slept next door"}).status_code == 302
    assert second.post(address, {"how": "right", "why": "or not"}).status_code == 409
    found = Glass.objects.get()
    assert (found.verdict, found.reviewed_by.username) == ("wrong", "second")  # type: ignore[union-attr]
    page = second.get("/reports/").content.decode()
    assert "1 in 30 days: 0 right, 1 wrong; 0 to review" in page
    for wrong in ("verdict = 'right'", "why = 'another'", "reviewed_at = NULL"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"UPDATE repairs_glass SET {wrong}")
    with pytest.raises(DatabaseError), transaction.atomic():
        Glass.objects.all()._raw_delete(using="default")
    flaws: list[Any] = []
    proof.verify(flaws.append)
    assert flaws == []


def test_the_page_of_reviews_counts_fewer_than_wait(
    night: Client, alone: User, second: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reviews, "MOST", 1)
    for _ in range(2):
        glass.broke(Broken.STOP, uuid.uuid4(), "lifted a stop", by=alone, why="it burns")
    assert "2 to review: done alone" in second.get("/reports/alone/").content.decode()


def test_who_belongs_to_other_teams_sees_and_reviews_nothing_of_it(
    refund: Approval, night: Client, person: Make, browse: Make
) -> None:
    say(night, refund, **form(night, refund, glass="yes"))
    user = person("elsewhere", "approver")
    Person.objects.create(user=user).teams.add(Team.objects.create(name="mail"))
    client, kept = browse(user), Glass.objects.get()
    assert "Nothing waits for a review" in client.get("/reports/alone/").content.decode()
    assert client.post(f"/reports/alone/{kept.id}/review", {"how": "right", "why": "x"}).status_code == 404


def test_who_reviews_is_told_at_once_and_again_when_nobody_did_in_time(
    night: Client, second: Client, settings: Any
) -> None:
    settings.NOTICES = notices.receivers("manager=json://localhost/one")
    night.post(f"/stops/{frozen().id}/lift", {"why": "it burns", "glass": "yes"})
    told = Notice.objects.filter(what="glass")
    assert list(told.values_list("mark", flat=True)) == [""]
    nearing.near(rows.now())
    assert told.count() == 1
    for _ in range(2):
        nearing.near(rows.now() + dt.timedelta(hours=25))
    assert sorted(told.values_list("mark", flat=True)) == ["", "late"]
    rewrite("UPDATE repairs_glass SET due_at = due_at - interval '25 hours'")
    assert "1 of them late" in second.get("/reports/").content.decode()
    home = second.get("/").content.decode()
    assert re.search(r'href="/reports/">Reports <span class="count">1</span>', home)


def test_who_drafted_the_rules_in_force_approves_nothing_for_a_day(
    refund: Approval, person: Make, browse: Make
) -> None:
    author = browse(person("author", "approver", "operator"))
    present = policies.in_force()
    assert present
    rewrite(
        "UPDATE workflows_policy SET drafted_by = 'person:Author', active_from = now() - interval '23 hours'"
        " WHERE id = %s",
        present.id,
    )
    assert "for a day another person must approve it" in page_of(author, refund)
    status, _ = say(author, refund, **form(author, refund))
    assert (status, state(refund)) == (403, "asked")
    rewrite("UPDATE workflows_policy SET active_from = now() - interval '25 hours' WHERE id = %s", present.id)
    say(author, refund, **form(author, refund))
    assert state(refund) == "granted"


def test_the_pages_of_broken_glasses_take_few_queries(refund: Approval, night: Client, stuck: Make) -> None:
    say(night, refund, **form(night, refund, glass="yes"))
    case = stuck()
    for address in (
        "/",
        "/reports/",
        "/reports/alone/",
        "/journal/",
        "/rehearsals/",
        "/stops/",
        f"/repairs/{case.number}/",
    ):
        with CaptureQueriesContext(connection) as seen:
            assert night.get(address).status_code == 200
        assert len(seen) <= 12, (address, len(seen))

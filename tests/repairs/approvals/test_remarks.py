"""Beside an approval: a question to who wants it, its answer, and leaving it to the others. Nothing of it decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction
from django.http import Http404
from django.test import Client
from django.test.utils import CaptureQueriesContext

from config import notices
from repairs.acts import remark
from repairs.desk import desk_for
from repairs.models import Notice, Person, Remark
from repairs.models.remark import RemarkKind
from repairs.notices import standing
from tests.repairs.approvals.pages import form, page_of, rewrite, say, state
from workflows.errors import Denied
from workflows.models import Team

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_a_question_is_asked_told_answered_and_decides_nothing(
    asking: Make, client: Client, person: Make, browse: Make, settings: Any
) -> None:
    settings.NOTICES = notices.receivers("repairer=json://localhost/r\napprover=json://localhost/a")
    approval = asking()
    Notice.objects.all().delete()
    status, page = say(client, approval, "ask", why="which of the two charges is it?")
    assert (status, state(approval)) == (200, "asked")
    assert "which of the two charges is it?" in page
    assert "a question is open" in client.get("/approvals/").content.decode()
    desk = browse(person("desk", "repairer"))
    assert "Answer the question" in page_of(desk, approval)
    say(desk, approval, "answer", why="the second one, of Tuesday")
    page = page_of(client, approval)
    assert "answers <span" in page
    assert "the second one, of Tuesday" in page
    assert "a question is open" not in client.get("/approvals/").content.decode()
    assert list(Notice.objects.order_by("id").values_list("what", "to")) == [
        ("remark", notices_to("r")),
        ("remark", notices_to("a")),
    ]
    said = list(Notice.objects.all())
    assert standing.still_true(said) == {one.id for one in said}, "a question is dropped before it is told"
    say(client, approval, **form(client, approval))
    assert state(approval) == "granted"
    assert standing.still_true(said) == set()
    assert client.post(f"/approvals/{approval.id}/ask", {"why": "one more"}).status_code == 409


def notices_to(end: str) -> str:
    return next(str(one.key) for one in configured.NOTICES if one.url.endswith(f"/{end}"))


def test_what_one_leaves_to_others_is_on_their_lists_only(
    asking: Make, client: Client, person: Make, browse: Make, settings: Any
) -> None:
    settings.NOTICES = notices.receivers("repairer=json://localhost/r\napprover=json://localhost/a")
    approval = asking()
    second = browse(person("second", "approver"))
    assert client.get("/approvals/").context["to_decide"] == 1
    assert client.post(f"/approvals/{approval.id}/not-mine", {"why": "the pay desk knows"}).status_code == 302
    assert not Notice.objects.filter(what="remark").exists(), "nobody is asked anything by it"
    for address in ("/approvals/", "/"):
        assert client.get(address).context["to_decide"] == 0
        assert second.get(address).context["to_decide"] == 1
    assert f"/approvals/{approval.id}/" not in client.get("/approvals/").content.decode()
    assert "left to others by <bdi>approver</bdi>" in second.get("/approvals/").content.decode()
    assert client.post(f"/approvals/{approval.id}/not-mine", {"why": "again"}).status_code == 409
    say(client, approval, **form(client, approval))
    assert state(approval) == "granted", "who left it may still decide; it is no refusal"


@pytest.mark.parametrize("act", ["ask", "not-mine", "answer"])
def test_who_may_only_look_says_nothing_beside_it_and_a_word_is_wanted(
    asking: Make, client: Client, person: Make, browse: Make, act: str
) -> None:
    approval, reader = asking(), person("reader", "manager")
    assert browse(reader).post(f"/approvals/{approval.id}/{act}", {"why": "hm"}).status_code == 403
    with pytest.raises(Denied):
        remark.say(desk_for(reader), approval.id, kind=RemarkKind(act.replace("-", "_")), words="hm")
    empty = client.post(f"/approvals/{approval.id}/{act}", {"why": " "})
    assert empty.status_code == 400
    if act == "answer":
        assert client.post(f"/approvals/{approval.id}/answer", {"why": "so it is"}).status_code == 409
    elsewhere = person("elsewhere", "approver")
    Person.objects.create(user=elsewhere).teams.add(Team.objects.create(name="elsewhere"))
    with pytest.raises(Http404):
        remark.say(desk_for(elsewhere), approval.id, kind=RemarkKind.ASK, words="what is it?")
    assert not Remark.objects.exists()


def test_who_it_is_done_for_answers_without_any_role(asking: Make, client: Client, person: Make, browse: Make) -> None:
    approval = asking()
    rewrite("UPDATE workflows_agent SET on_behalf_of = 'person:boss' WHERE id = %s", approval.agent_id)
    say(client, approval, "ask", why="do you want this?")
    mine = browse(person("boss"))
    assert "a question is open" in mine.get("/approvals/?view=mine").content.decode()
    assert mine.post(f"/approvals/{approval.id}/answer", {"why": "I do"}).status_code == 302


def test_what_was_said_is_never_changed_and_costs_few_queries(asking: Make, client: Client, approver: User) -> None:
    approval = asking()
    say(client, approval, "ask", why="which of the two?")
    for statement in ("UPDATE repairs_remark SET words = 'x'", "DELETE FROM repairs_remark"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
    for address in ("/approvals/", "/approvals/?view=mine", f"/approvals/{approval.id}/"):
        with CaptureQueriesContext(connection) as seen:
            assert client.get(address).status_code == 200
        assert len(seen) <= 12, (address, len(seen), [q["sql"][:90] for q in seen])

"""Making good from the console: what is chosen, filled in, shown, sent once, approved, called off; nothing is lost."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from repairs.acts import reopen
from repairs.models import Act, Case
from repairs.remedy_form import arguments_of, begun
from repairs.words.remedy_fields import Sort, fields_of
from repairs.words.remedy_messages import BLANK, BLANKS, MESSAGES, filled
from tests.engine.conftest import states
from tests.engine.simulated import World
from workflows.authority import approvals
from workflows.drain import drain_once
from workflows.engine import findings
from workflows.models import Approval, Effect, Run, Step

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
REFUND = {
    "type": "object",
    "required": ["id", "amount"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string"},
        "amount": {"type": "integer", "minimum": 1},
        "why": {"enum": ["duplicate", "goodwill"]},
        "text": {"type": "string"},
    },
}


@pytest.fixture
def repairer(person: Make) -> User:
    user: User = person("night-desk", "repairer", "approver")
    return user


@pytest.fixture
def charged(world: World, tool: Make, workflow: Make, run_through: Make) -> Case:
    """A charge that a look found twice, and a tool that pays back."""
    tool("pay.charge", residue="A charge of 480 EUR stands.", undo=False, scopes=["pay:c1"])
    refund = tool("pay.refund", residue="A refund was made.", undo=False)
    refund.spec["arguments"] = REFUND
    refund.save()
    tool("pay.never", autonomy="forbidden", undo=False)
    tool("pay.list", effect_class="read_only", undo=False)
    world.script("pay.charge", "execute", "lost_after")
    world.script("pay.charge", "look", "several")
    return Case.objects.get(run=run_through(workflow("pay.charge")))


def page(client: Client, case: Case, **given: str) -> Any:
    return client.get(f"/repairs/{case.number}/remedy", given)


def post(client: Client, case: Case, do: str, **given: str) -> Any:
    body = {"do": do, "tool": "pay.refund", "makes_good": "run", "fence": str(case.fence), "request": "one"}
    body |= {"arg.id": "ch_1", "arg.amount": "48000", **{k.replace("__", "."): v for k, v in given.items()}}
    return client.post(f"/repairs/{case.number}/make-good", body)


def note(answer: Any) -> str:
    found = re.search(r'name="preview" value="([^"]+)"', answer.content.decode())
    assert found, "the page shows nothing of what would be sent"
    return found[1]


def charge(case: Case) -> Effect:
    return Effect.objects.get(run=case.run_id, step__name="charge")


def send(client: Client, case: Case, **given: str) -> Any:
    seen = note(post(client, case, "show", **given))
    return post(client, case, "send", preview=seen, why="charged twice", **given)


def test_only_what_policy_and_profile_let_a_person_use_is_offered(charged: Case, repairer: User, browse: Make) -> None:
    said = page(browse(repairer), charged).content.decode()
    offered = re.findall(r'<option value="(pay\.\w+)"', said)
    assert offered == ["pay.charge", "pay.refund"]


def test_the_fields_are_those_of_the_tools_schema_filled_in_from_what_is_made_good(
    charged: Case, repairer: User, browse: Make
) -> None:
    item = charge(charged)
    Effect.objects.filter(id=item.id).update(result={"id": "ch_7", "amount": 48000, "other": 1})
    said = page(browse(repairer), charged, tool="pay.refund", makes_good=str(item.id)).content.decode()
    assert re.search(r'name="arg.id" value="ch_7"', said)
    assert re.search(r'name="arg.amount" value="48000"', said)
    assert '<option value="&quot;duplicate&quot;">' in said
    assert "A charge of 480 EUR stands." in said


def test_what_is_sent_is_what_was_shown_once_and_the_case_closes_when_all_is_seen(
    charged: Case, repairer: User, browse: Make, world: World
) -> None:
    client, item = browse(repairer), charge(charged)
    given = {"makes_good": str(item.id)}
    seen = note(post(client, charged, "show", **given))
    assert not Step.objects.filter(remedy=True).exists(), "showing it asked for it"
    answers = [post(client, charged, "send", preview=seen, why="charged twice", **given) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [302, 302], "a form that is sent twice is refused"
    drain_once()
    made = Effect.objects.get(kind="remedy")
    assert (made.state, made.arguments, made.makes_good_id) == ("verified", {"id": "ch_1", "amount": 48000}, item.id)
    assert world.made.count(made.key) == 1
    act = Act.objects.get(kind="remedy")
    assert (act.effect_id, act.why, act.outcome) == (made.id, "charged twice", "asked")
    assert act.facts["makes_good"] == str(item.id)
    assert "a remedy for" in client.get(f"/repairs/{charged.number}/").content.decode()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"arg__amount": "many"}, "must be a whole number"),
        ({"arg__amount": "4.5"}, "must be a whole number"),
        ({"arg__amount": "0"}, "minimum"),
        ({"arg__id": ""}, "is missing"),
        ({"arg__id": "a\x01b"}, "control character (U+0001)"),
        ({"arg__why": '"because"'}, "duplicate"),
        ({"tool": "pay.never"}, "forbidden"),
        ({"tool": "pay.list"}, "only reads"),
        ({"tool": "no\x00thing"}, "Choose a tool"),
        ({"makes_good": ""}, "Choose what it makes good"),
        ({"makes_good": "0189c2a4-0000-7000-8000-000000000000"}, "no such effect"),
    ],
)
def test_what_does_not_fit_is_refused_whole_and_keeps_what_was_typed(
    charged: Case, repairer: User, browse: Make, given: dict[str, str], said: str
) -> None:
    client = browse(repairer)
    for do in ("show", "send"):
        answer = post(client, charged, do, preview="x", why="it was my mistake", **given)
        text = answer.content.decode()
        assert answer.status_code in (400, 403, 404), text
        assert said in text
        assert "it was my mistake" in text or given.get("tool"), "the reason was lost"
    assert not Step.objects.filter(remedy=True).exists()


def test_another_call_than_the_one_shown_is_not_sent_and_stays_typed(
    charged: Case, repairer: User, person: Make, browse: Make
) -> None:
    client, other = browse(repairer), browse(person("other", "repairer"))
    mine, theirs = note(post(client, charged, "show")), note(post(other, charged, "show"))
    for given in ({"preview": mine, "arg__amount": "48001"}, {"preview": theirs}, {"preview": ""}):
        answer = post(client, charged, "send", why="charged twice", **given)
        assert answer.status_code in (400, 409)
        assert "charged twice" in answer.content.decode()
    assert not Step.objects.filter(remedy=True).exists()


def test_a_late_holder_sends_nothing(charged: Case, repairer: User, person: Make, browse: Make) -> None:
    client = browse(repairer)
    seen = note(post(client, charged, "show"))
    browse(person("day-desk", "repairer")).post(f"/repairs/{charged.number}/claim", {})
    answer = post(client, charged, "send", preview=seen, why="charged twice")
    assert answer.status_code == 409
    assert "day-desk holds" in answer.content.decode()
    assert not Step.objects.filter(remedy=True).exists()


def test_who_may_only_read_or_sees_another_team_makes_nothing_good(charged: Case, person: Make, browse: Make) -> None:
    assert page(browse(person("reads", "manager")), charged).status_code == 403
    assert post(browse(person("reads-too", "approver")), charged, "show").status_code == 403


def test_what_cannot_be_undone_waits_for_another_person_and_can_be_called_off(
    charged: Case, repairer: User, browse: Make, tool: Make, world: World
) -> None:
    tool("pay.transfer", undo=False, effect_class="irreversible")
    client = browse(repairer)
    given = {"tool": "pay.transfer", "as_json": "1", "arg__": '{"amount": 48000}'}
    assert "Another person must say yes first" in post(client, charged, "show", **given).content.decode()
    assert send(client, charged, **given).status_code == 302
    drain_once()
    made = Effect.objects.get(kind="remedy")
    assert (made.state, made.reason) == ("blocked", "approval")
    assert "asked for it" in approvals.why_not(Approval.objects.get(effect=made), made, repairer)
    approval = Approval.objects.get(effect=made)
    told = client.get(f"/approvals/{approval.id}/").content.decode()
    assert "Making good by" in told
    assert re.search(r"Asked by</dt><dd><bdi>night-desk</bdi>, in a run of", told)
    assert "stays with its case" in told
    assert f"/approvals/{approval.id}/" in client.get("/approvals/?view=mine").content.decode()
    charged = Case.objects.get(id=charged.id)
    body = {"effect": str(made.id), "fence": str(charged.fence), "why": "paid back by hand"}
    refused = client.post(f"/repairs/{charged.number}/call-off", body)
    assert (refused.status_code, "shown what this sends" in refused.content.decode()) == (400, True)
    case_page = client.get(f"/repairs/{charged.number}/").content.decode()
    asked = re.search(r'<h2 id="history">.*', case_page, re.DOTALL)
    assert asked is not None
    assert f'<a href="/approvals/{approval.id}/">' in asked[0], "what people are asked is no part of what was done"
    off = case_page.split(f'action="/repairs/{charged.number}/call-off"')[1].split("</form>")[0]
    assert "Never sent any more: <bdi>remedy-1</bdi>" in off
    (body["preview"],) = re.findall('name="preview" value="([^"]+)"', off)
    assert client.post(f"/repairs/{charged.number}/call-off", body).status_code == 302
    drain_once()
    assert states(charged.run)["remedy-1 remedy"] == "cancelled nothing"
    assert made.key not in world.made


def test_a_closed_case_that_was_open_again_since_is_made_good(
    charged: Case, repairer: User, browse: Make, person: Make
) -> None:
    findings.found(charge(charged).id, by="person:x", why="one is left", result={"id": "ch_1"})
    drain_once()
    seen, client = Case.objects.get(id=charged.id), browse(repairer)
    body = note(post(client, seen, "show"))
    other = person("day-desk", "repairer")
    reopen.reopen(seen.id, by=other, why="they still see two")
    reopen.close(seen.id, by=other, why="a stale page of theirs", fence=Case.objects.get(id=seen.id).fence)
    answer = post(client, seen, "send", preview=body, why="charged twice")
    assert (answer.status_code, "in other hands" in answer.content.decode()) == (409, True)
    assert not Step.objects.filter(remedy=True).exists()


def test_a_closed_case_is_made_good_too_and_is_open_until_that_is_settled(
    world: World, tool: Make, workflow: Make, run_through: Make, repairer: User, browse: Make, charged: Case
) -> None:
    client, item = browse(repairer), charge(charged)
    look = re.search(r'name="preview" value="([^"]+)"', client.get(f"/repairs/{charged.number}/").content.decode())
    assert look
    body = {"effect": str(item.id), "fence": str(charged.fence), "why": "look", "preview": look[1]}
    client.post(f"/repairs/{charged.number}/look-again", body)
    drain_once()
    charged = Case.objects.get(id=charged.id)
    assert charged.state == "resolved"
    world.script("pay.refund", "execute", "lost_before")
    world.script("pay.refund", "look", *["unreachable"] * 2)
    assert send(client, charged).status_code == 302
    assert Run.objects.get(id=charged.run_id).phase == "unwinding"
    drain_once()
    charged = Case.objects.get(id=charged.id)
    assert (charged.state, charged.reopened) == ("resolved", 1)
    assert Run.objects.get(id=charged.run_id).state == "repaired"


def test_what_a_person_opened_again_stays_open_after_its_remedy_until_they_close_it(
    world: World, tool: Make, workflow: Make, run_through: Make, repairer: User, browse: Make, charged: Case
) -> None:
    findings.found(charge(charged).id, by="person:x", why="one is left", result={"id": "ch_1"})
    drain_once()
    assert Case.objects.get(id=charged.id).state == "resolved"
    reopen.reopen(charged.id, by=repairer, why="the customer says it was charged twice")
    charged = Case.objects.get(id=charged.id)
    assert send(browse(repairer), charged, makes_good=str(charge(charged).id)).status_code == 302
    drain_once()
    charged, run = Case.objects.get(id=charged.id), Run.objects.get(id=charged.run_id)
    assert (charged.state, run.phase, [r["code"] for r in run.people_reasons]) == ("open", "over", ["person"])
    reopen.close(charged.id, by=repairer, why="paid back, and the customer was told", fence=charged.fence)
    run = Run.objects.get(id=charged.run_id)
    assert (Case.objects.get(id=charged.id).state, run.state) == ("resolved", "repaired")


def test_the_same_act_again_must_be_meant(charged: Case, repairer: User, browse: Make) -> None:
    client = browse(repairer)
    assert send(client, charged).status_code == 302
    again = {"request": "two"}
    assert "of this run sends the same" in post(client, charged, "show", **again).content.decode()
    assert send(client, charged, **again).status_code == 400
    assert send(client, charged, again="yes", **again).status_code == 302
    assert Step.objects.filter(remedy=True).count() == 2


def test_hostile_words_of_agents_stand_literal_in_page_and_message(
    charged: Case, repairer: User, browse: Make, world: World
) -> None:
    evil = "<script>alert(1)</script> {case} ${ args.id }\u202e"
    Run.objects.filter(id=charged.run_id).update(subject_label=evil)
    item = charge(charged)
    Effect.objects.filter(id=item.id).update(residue=evil, result={"id": evil})
    given = {"tool": "pay.refund", "makes_good": str(item.id), "message": "twice"}
    client = browse(repairer)
    said = page(client, charged, **given).content.decode()
    assert "<script>alert" not in said
    text = re.search(r'name="arg.text"[^>]*>\n(.*?)</textarea>', said, re.S)
    assert text
    assert "\u202e" not in text[1]
    assert "{case} ${ args.id }" in text[1], "what fills a blank was filled in itself"
    assert send(client, charged, arg__text="Hello ${ args.id } {{ case }}").status_code == 302
    drain_once()
    assert Effect.objects.get(kind="remedy").arguments["text"] == "Hello ${ args.id } {{ case }}"


def test_every_message_has_only_blanks_that_are_filled() -> None:
    for message in MESSAGES.values():
        assert set(BLANK.findall(message.subject + message.text)) <= set(BLANKS)
        said = filled(message, dict.fromkeys(BLANKS, "x"), {"subject": {}, "body": {}})
        assert set(said) == {"subject", "body"}
        assert "{" not in said["subject"] + said["body"]


def test_a_schema_that_no_form_can_show_is_filled_in_as_json() -> None:
    assert fields_of({"type": "object"})[0].sort == Sort.JSON
    whole = fields_of({"type": "object"})
    assert arguments_of(whole, {"": '{"a": [1, 2.5, null]}'}) == ({"a": [1, 2.5, None]}, [])
    for text in ("[1]", '{"a": 1, "a": 2}', '{"a": NaN}', "{"):
        assert arguments_of(whole, {"": text})[1], text
    schema = {"type": "object", "properties": {"to": {"type": "array"}, "yes": {"type": "boolean"}}}
    fields = fields_of(schema)
    assert [field.sort for field in fields] == [Sort.JSON, Sort.FLAG]
    assert arguments_of(fields, {"to": '["a"]', "yes": "true"}) == ({"to": ["a"], "yes": True}, [])
    assert begun(
        {"properties": {"n": {"type": "integer", "default": 3}}}, fields_of({"properties": {"n": {}}}), None, {}
    ) == {"n": "3"}


def test_the_page_asks_few_queries(
    charged: Case, repairer: User, browse: Make, django_assert_max_num_queries: Make
) -> None:
    client = browse(repairer)
    given = {"tool": "pay.refund", "makes_good": str(charge(charged).id)}
    page(client, charged, **given)
    with django_assert_max_num_queries(12):
        page(client, charged, **given)


def test_a_field_says_the_name_of_its_format_and_not_how_it_looks() -> None:
    formats = {"to": "email", "day": "date", "account": "iban"}
    fields = fields_of({"properties": {name: {"type": "string", "format": one} for name, one in formats.items()}})
    assert {field.name: field.hint for field in fields} == {
        "to": "An e-mail address, such as office@customer.example.",
        "day": "A day, such as 2031-05-06.",
        "account": "A text of the format iban.",
    }

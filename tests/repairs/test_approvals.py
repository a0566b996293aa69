"""Approvals in the console: who may say what, by what, about what they were shown, and what the engine made of it."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from repairs.acts import approve as acts
from repairs.models import Person
from repairs.words.check import check
from tests.engine.simulated import World
from workflows.authority import approvals
from workflows.authority.keys import make_key
from workflows.drain import drain_once
from workflows.engine import peek
from workflows.engine.cancel import cancel
from workflows.models import Approval, ApprovalVote, Effect, Entry, Run, Team, Workflow

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
QUERIES = 12
MONEY = {"amount": 48000, "currency": "EUR", "to": "office@cole.example"}
DIGEST = re.compile(r'name="note" value="([^"]+)"')
ACTS = ("approve", "refuse", "take-back", "read")


@pytest.fixture
def asking(world: World, tool: Make, workflow: Make, run_through: Make) -> Callable[..., Approval]:
    """An approval that is asked for: of a refund, which can't be undone, unless `options` say otherwise."""

    def make(arguments: Any = MONEY, name: str = "pay.refund", **options: Any) -> Approval:
        tool(name, **{"autonomy": "ask", "effect_class": "irreversible", "undo": False, **options})
        flow = workflow(name)
        flow.spec["steps"][0]["arguments"] = arguments
        Workflow.objects.filter(id=flow.id).update(spec=flow.spec)
        run = run_through(flow)
        return Approval.objects.select_related("effect__agent").get(run=run, state="asked")

    return make


@pytest.fixture
def approver(person: Make) -> User:
    user: User = person("approver", "approver")
    return user


@pytest.fixture
def client(approver: User, browse: Make) -> Client:
    found: Client = browse(approver)
    return found


def page_of(client: Client, approval: Approval, query: str = "") -> str:
    answer = client.get(f"/approvals/{approval.id}/{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def form(client: Client, approval: Approval, query: str = "", **more: str) -> dict[str, str]:
    """What a person sends who has read the page and answers rightly."""
    note = DIGEST.search(page_of(client, approval, query))
    assert note is not None
    asks = check(approval.question, approval.digest)
    return {"note": note[1], "why": "the charge was doubled", "answer": asks.answer if asks else "", **more}


def say(client: Client, approval: Approval, act: str = "approve", **sent: str) -> tuple[int, str]:
    answer = client.post(f"/approvals/{approval.id}/{act}", sent, follow=True)
    return answer.status_code, answer.content.decode().replace("&#x27;", "'")


def state(approval: Approval) -> str:
    return str(Approval.objects.get(id=approval.id).state)


def test_what_was_read_and_answered_is_approved_and_the_page_shows_what_the_engine_does(
    asking: Make, client: Client, world: World
) -> None:
    approval = asking()
    page = page_of(client, approval)
    for said in (
        "can&#x27;t be undone",
        "48000",
        "office@cole.example",
        "What is amount?",
        "It is not there yet",
        approval.digest,
    ):
        assert said in page
    status, page = say(client, approval, **form(client, approval))
    assert (status, state(approval)) == (200, "granted")
    assert "Approved; not sent yet." in page
    assert world.sends == []
    drain_once()
    page = page_of(client, approval)
    assert re.search(r"sent \d\d:\d\d:\d\d, verified \d\d:\d\d:\d\d", page)
    assert len(world.sends) == 1
    vote = ApprovalVote.objects.get()
    assert vote.opened_at is not None
    assert vote.opened_at < vote.at
    assert "after opening the page" in page


def test_an_effect_leads_to_what_people_were_asked_and_home_counts_it(asking: Make, client: Client) -> None:
    approval = asking()
    page = client.get(f"/runs/{approval.run_id}/effects/{approval.effect_id}").content.decode()
    assert f'href="/approvals/{approval.id}/"' in page
    home = client.get("/").content.decode()
    assert "<b>1</b><span>To approve</span>" in home
    assert "Nothing needs a person" not in home


def test_a_refusal_stops_it_and_says_why(asking: Make, client: Client, world: World) -> None:
    approval = asking()
    _, page = say(client, approval, "refuse", **form(client, approval, why="ch_2 was never made"))
    assert "Refused; it is not sent." in page
    assert "ch_2 was never made" in page
    assert "never sent: it was called off" in page
    drain_once()
    assert world.sends == []


def everything() -> list[Any]:
    tables = (Approval, ApprovalVote, Effect, Run, Entry)
    return [list(table.objects.order_by("id").values()) for table in tables]


def test_d11_looking_changes_nothing_and_only_a_form_with_its_token_decides(
    asking: Make, client: Client, approver: User
) -> None:
    approval = asking()
    before = everything()
    for address in ("/approvals/", "/approvals/?view=decided", "/approvals/?view=mine"):
        assert client.get(address).status_code == client.head(address).status_code == 200
    for address in ("", "?whole=1", "call.json", "reading"):
        assert client.get(f"/approvals/{approval.id}/{address}").status_code == 200
    for act in ACTS:
        assert client.get(f"/approvals/{approval.id}/{act}").status_code == 405
        assert client.head(f"/approvals/{approval.id}/{act}").status_code == 405
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(approver, backend="django.contrib.auth.backends.ModelBackend")
    for act in ACTS:
        assert strict.post(f"/approvals/{approval.id}/{act}", form(client, approval)).status_code == 403
    assert everything() == before


@pytest.mark.parametrize(
    ("sent", "status", "said"),
    [
        ({"why": " "}, 400, "Say why, in a sentence."),
        ({"answer": ""}, 400, "Answer the check question"),
        ({"answer": "0123456789abcdef"}, 400, "That is not what would be sent."),
        ({"note": "forged"}, 400, "This form is not whole or too old"),
        ({"note": ""}, 400, "This form is not whole or too old"),
    ],
)
def test_a_form_that_isnt_whole_decides_nothing_and_keeps_what_was_typed(
    asking: Make, client: Client, sent: dict[str, str], status: int, said: str
) -> None:
    approval = asking()
    answer, page = say(client, approval, **{**form(client, approval, why="typed with care"), **sent})
    assert (answer, state(approval)) == (status, "asked")
    assert said in page
    assert sent.get("why", "typed with care") in page
    assert not ApprovalVote.objects.exists()


def test_a_note_of_another_person_or_page_decides_nothing(
    asking: Make, client: Client, person: Make, browse: Make
) -> None:
    approval = asking()
    other = browse(person("second", "approver"))
    status, page = say(client, approval, **form(other, approval))
    assert status == 400
    assert "made for another page or another person" in page
    assert state(approval) == "asked"


def test_a_page_left_open_over_night_decides_nothing(
    asking: Make, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    approval = asking()
    sent = form(client, approval)
    monkeypatch.setattr(acts, "PAGE_LASTS", dt.timedelta(seconds=-1))
    assert say(client, approval, **sent)[0] == 400
    assert state(approval) == "asked"


@pytest.mark.parametrize("how", ["behalf", "delegated", "superuser", "by hand"])
def test_d11_who_is_behind_it_may_refuse_and_not_approve(
    asking: Make, person: Make, browse: Make, how: str, world: World
) -> None:
    approval = asking()
    user = person("boss", "approver")
    if how == "superuser":
        User.objects.filter(id=user.id).update(is_superuser=True)
    if how == "by hand":
        entry = Entry.objects.filter(subject_id=approval.effect_id).order_by("seq").first()
        assert entry is not None
        rewrite("UPDATE workflows_entry SET actor = 'person:boss' WHERE id = %s", entry.id)
    elif how == "delegated":
        middle = type(approval.agent).objects.create(name="middle", on_behalf_of="person:boss")
        rewrite(
            "UPDATE workflows_agent SET on_behalf_of = %s WHERE id = %s", f"system:{middle.name}", approval.agent_id
        )
    else:
        rewrite("UPDATE workflows_agent SET on_behalf_of = 'person:boss' WHERE id = %s", approval.agent_id)
    mine = browse(user)
    assert "another person must approve it" in page_of(mine, approval)
    status, page = say(mine, approval, **form(mine, approval))
    assert (status, state(approval)) == (403, "asked")
    assert "another person must approve it" in page
    say(mine, approval, "refuse", **form(mine, approval))
    assert state(approval) == "refused"
    assert world.sends == []


def rewrite(statement: str, *values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(statement, values)
        cursor.execute("SET session_replication_role = DEFAULT")


def test_with_one_person_only_they_may_approve_alone_where_the_installation_says_so(
    asking: Make, person: Make, browse: Make, settings: Any
) -> None:
    settings.FOUR_EYES = "when_possible"
    approval = asking()
    rewrite("UPDATE workflows_agent SET on_behalf_of = 'person:boss' WHERE id = %s", approval.agent_id)
    mine = browse(person("boss", "approver"))
    assert "Here one person may approve it alone" in page_of(mine, approval)
    say(mine, approval, **form(mine, approval))
    assert state(approval) == "granted"
    assert ApprovalVote.objects.get().alone
    assert "alone, although it is done on their behalf" in page_of(mine, approval)


def test_c56_a_role_lost_between_the_page_and_the_click_counts(asking: Make, client: Client, approver: User) -> None:
    approval = asking()
    sent = form(client, approval)
    approver.groups.set(Group.objects.filter(name="repairer"))
    status, page = say(client, approval, **sent)
    assert (status, state(approval)) == (403, "asked")
    assert "is not among them" in page
    approver.groups.clear()
    assert say(client, approval, **sent)[0] == 403
    assert state(approval) == "asked"


def test_c56_an_agents_key_approves_nothing_by_any_address(asking: Make, agent: Any, client: Client) -> None:
    approval = asking()
    sent = {**form(client, approval), "resolved_by": "nobody", "by": "approver", "user": "approver", "channel": "ops"}
    headers = {"Authorization": f"Bearer {make_key(agent)}"}
    before = everything()
    for act in ACTS:
        answer = Client().post(f"/approvals/{approval.id}/{act}", sent, headers=headers)
        assert (answer.status_code, answer["Location"][:13]) == (302, "/admin/login/")
    for address in (
        f"/api/v1/approvals/{approval.id}",
        f"/api/v1/approvals/{approval.id}/approve",
        f"/api/v1/effects/{approval.effect_id}/approve",
        f"/api/v1/effects/{approval.effect_id}",
    ):
        for method in ("post", "put", "patch", "delete"):
            answer = getattr(Client(), method)(
                address, json.dumps(sent), content_type="application/json", headers=headers
            )
            assert answer.status_code in (404, 405), address
    assert everything() == before


def test_c56_fields_of_the_body_name_nobody(asking: Make, client: Client, approver: User) -> None:
    approval = asking()
    say(client, approval, **form(client, approval, by="somebody", user="9", resolved_by="nobody", alone="1"))
    vote = ApprovalVote.objects.get()
    assert (vote.by, vote.alone) == (approver, False)
    assert Entry.objects.get(subject_id=approval.id, event="grant").actor == "person:approver"


def test_d11_who_acts_in_anothers_name_decides_nothing(asking: Make, client: Client) -> None:
    approval = asking()
    sent = form(client, approval)
    session = client.session
    session["hijack_history"] = ["7"]
    session.save()
    status, page = say(client, approval, **sent)
    assert (status, state(approval)) == (403, "asked")
    assert "in another person's name" in page


def test_d11_who_is_logged_out_meanwhile_decides_nothing(asking: Make, client: Client, approver: User) -> None:
    approval = asking()
    sent = form(client, approval)
    session = client.session
    type(session)(session.session_key).delete()
    with pytest.raises(Exception, match="You are logged out"):
        acts.approve(approval.id, by=approver, session=session, why="yes", note=sent["note"], answer=sent["answer"])
    assert client.post(f"/approvals/{approval.id}/approve", sent)["Location"].startswith("/admin/login/")
    assert (state(approval), ApprovalVote.objects.count()) == ("asked", 0)


def test_d05_a_cut_call_is_approved_only_after_its_full_text_was_opened(asking: Make, client: Client) -> None:
    approval = asking({"amount": 5, "text": "x" * 10_000})
    page = page_of(client, approval)
    assert "Open the full text" in page
    assert "cut: it has 10000 characters" in page
    assert len(page) < 40_000
    status, page = say(client, approval, **form(client, approval))
    assert (status, state(approval)) == (400, "asked")
    assert "Open the full text, read it, then approve." in page
    assert "x" * 10_000 in page_of(client, approval, "?whole=1")
    say(client, approval, **form(client, approval, "?whole=1"))
    assert state(approval) == "granted"


def test_d05_what_nobody_can_read_can_only_be_refused(asking: Make, client: Client) -> None:
    approval = asking({"amount": 5, "text": "y" * 400_000})
    page = page_of(client, approval, "?whole=1")
    assert "more than anybody can check here" in page
    assert len(page) < 60_000
    assert say(client, approval, **form(client, approval, "?whole=1"))[0] == 400
    say(client, approval, "refuse", **form(client, approval))
    assert state(approval) == "refused"


HOSTILE = {
    "amount": "pay \u202e001\u202c EUR",
    "file": "file\u200b.txt",
    "name": "ok" + " " * 300 + "rm -rf",
    "tag": "\U000e0064",
    "text": "</script><img src=x onerror=window.__x=1>\n" + "\n" * 60 + "שלום عليكم \u202eم",
    "<b>key\u202e": True,
}


def test_d07_hidden_and_reordered_text_is_shown_as_codes_and_the_digest_is_over_the_bytes(
    asking: Make, client: Client
) -> None:
    approval = asking(HOSTILE)
    page = page_of(client, approval)
    for code in ("[U+202E]", "[U+202C]", "[U+200B]", "[300 spaces]", "[U+E0064]", "[61 line ends]", "שלום عليكم"):
        assert code in page
    for raw in ("\u202e", "\u200b", "\U000e0064", "<img src=x", "<b>key"):
        assert raw not in page
    assert "8 hidden characters" in page
    answer = client.get(f"/approvals/{approval.id}/call.json")
    assert answer["Content-Disposition"].startswith("attachment")
    assert hashlib.sha256(answer.content).hexdigest() == approval.digest
    assert json.loads(answer.content)["arguments"] == HOSTILE


def test_d09_values_are_shown_with_their_types(asking: Make, client: Client) -> None:
    approval = asking({"a": 1, "b": [2, 1], "c": 1.0, "d": True, "e": "1", "f": None, "g": {}})
    page = page_of(client, approval)
    rows = re.findall(r'<bdi class="value">([^<]*)</bdi>.*?data-label="Type" class="quiet">([^<]+)<', page, re.DOTALL)
    assert rows == [
        ("1", "whole number"), ("2", "whole number"), ("1", "whole number"), ("1.0", "number with a point"),
        ("true", "true or false"), ("1", "text"), ("null", "null"), ("{}", "empty object"),
    ]  # fmt: skip


def test_a_value_from_untrusted_content_shows_where_it_stems_from(asking: Make, client: Client) -> None:
    approval = asking()
    Approval.objects.filter(id=approval.id).update(origin=[{"path": "to", "from": "steps.read.result"}])
    assert "stems from untrusted content: <bdi>steps.read.result</bdi>" in page_of(client, approval)


def test_a_target_that_was_read_again_must_be_seen_before_it_is_approved(
    asking: Make, client: Client, world: World
) -> None:
    approval = asking()
    sent = form(client, approval)
    world.things[approval.effect.key] = {"not": "ours"}
    client.post(f"/approvals/{approval.id}/read")
    assert client.get(f"/approvals/{approval.id}/reading").json() == {"reading": True}
    assert "It is being read now" in page_of(client, approval)
    drain_once()
    assert client.get(f"/approvals/{approval.id}/reading").json() == {"reading": False}
    page = page_of(client, approval)
    assert "It has changed since it was first read" in page
    assert "It is there already, with our mark" in page
    status, page = say(client, approval, **sent)
    assert (status, state(approval)) == (409, "asked")
    assert "The target was read again since this page was opened" in page


def test_an_old_read_is_made_anew_before_it_is_approved(
    asking: Make, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    approval = asking()
    sent = form(client, approval)
    monkeypatch.setattr(acts, "FRESH", dt.timedelta(seconds=-1))
    assert "read it again before you approve" in page_of(client, approval)
    assert say(client, approval, **sent)[0] == 409
    assert state(approval) == "asked"


def test_a_target_that_cannot_be_read_is_approved_only_by_who_says_so(
    asking: Make, client: Client, world: World
) -> None:
    approval = asking()
    world.script("pay.refund", "look", "unreachable")
    peek.ask(approval.id)
    drain_once()
    page = page_of(client, approval)
    assert "It could not be read" in page
    assert say(client, approval, **form(client, approval))[0] == 400
    say(client, approval, **form(client, approval, unread="yes"))
    assert state(approval) == "granted"


def test_a_tool_without_a_look_is_approved_plainly(asking: Make, client: Client) -> None:
    approval = asking(verify=False)
    assert "Its tool has no way to look" in page_of(client, approval)
    say(client, approval, **form(client, approval))
    assert state(approval) == "granted"


@pytest.mark.parametrize("how", ["refused", "expired", "gone", "void"])
def test_what_is_no_more_says_so(asking: Make, client: Client, person: Make, how: str) -> None:
    approval = asking()
    sent = form(client, approval)
    if how == "refused":
        approvals.refuse(approval.id, by=person("second", "approver"), why="no", seen_digest=approval.digest)
    elif how == "expired":
        Approval.objects.filter(id=approval.id).update(expires_at=approval.asked_at)
    elif how == "gone":
        cancel(approval.agent, approval.run_id, reason="not wanted")
        drain_once()
    else:
        approvals.keep_target(approval.id, image={}, version="v2", at=approval.asked_at)
    status, page = say(client, approval, **sent)
    assert status == 409
    said = {
        "refused": "This was refused at",
        "expired": "nobody decided it in time",
        "gone": "nothing is asked",
        "void": "What is asked has changed since this page was opened",
    }
    assert said[how] in page or "what it was for is not waiting any more" in page
    assert not ApprovalVote.objects.filter(verdict="approve").exists()


def test_an_approval_is_taken_back_before_it_is_sent(asking: Make, client: Client, world: World) -> None:
    approval = asking()
    say(client, approval, **form(client, approval))
    _, page = say(client, approval, "take-back", why="wrong customer")
    assert (state(approval), "wrong customer" in page) == ("void", True)
    drain_once()
    assert world.sends == []
    assert Approval.objects.filter(effect=approval.effect_id, state="asked").count() == 1


def test_of_two_people_both_are_needed(asking: Make, client: Client, person: Make, browse: Make) -> None:
    approval = asking()
    Approval.objects.filter(id=approval.id).update(needed=2)
    _, page = say(client, approval, **form(client, approval))
    assert "Your approval counts, 1 of 2; it takes 1 more." in page
    assert "another person is needed" in page
    second = browse(person("second", "approver"))
    _, page = say(second, approval, **form(second, approval))
    assert (state(approval), "Approved; not sent yet." in page) == ("granted", True)


def test_lists_count_what_they_show_and_never_load_what_is_large(
    asking: Make, client: Client, run_through: Make
) -> None:
    first = asking({"amount": 1, "text": "z" * 100_000})
    flow = first.run.workflow
    for _ in range(3):
        run_through(flow)
    with CaptureQueriesContext(connection) as seen:
        page = client.get("/approvals/").content.decode()
    assert page.count("data-row") == 4
    assert page.count('Approvals <span class="count">4</span>') == 1
    assert 'type="checkbox"' not in page.replace('id="keys-on"', "").replace('<input type="checkbox"  checked>', "")
    assert "zzz" not in page
    for query in seen:
        for column in ('_effect"."arguments"', 'approval"."fields"', 'approval"."target"', 'run"."input"', '"spec"'):
            assert column not in query["sql"], query["sql"][:300]
    assert len(seen) <= QUERIES
    say(client, first, "refuse", **form(client, first))
    assert client.get("/approvals/").content.decode().count("data-row") == 3
    assert client.get("/approvals/?view=decided").content.decode().count("data-row") == 1


def test_each_page_takes_few_queries(asking: Make, client: Client) -> None:
    approval = asking()
    say(client, approval, **form(client, approval))
    rewrite("UPDATE workflows_agent SET on_behalf_of = 'person:boss' WHERE id = %s", approval.agent_id)
    for address in ("?view=decide", "?view=decided", "?view=mine", f"{approval.id}/", f"{approval.id}/?whole=1"):
        with CaptureQueriesContext(connection) as seen:
            assert client.get(f"/approvals/{address}").status_code == 200
        assert len(seen) <= QUERIES, f"{address}: {[q['sql'][:90] for q in seen]}"


def test_what_is_not_ones_teams_is_not_there(asking: Make, person: Make, browse: Make) -> None:
    approval = asking()
    user = person("stranger", "approver")
    Person.objects.create(user=user).teams.add(Team.objects.create(name="elsewhere"))
    client = browse(user)
    assert client.get("/approvals/").content.decode().count("data-row") == 0
    for address in ("", "call.json", "reading"):
        assert client.get(f"/approvals/{approval.id}/{address}").status_code == 404
    for act in ACTS:
        assert client.post(f"/approvals/{approval.id}/{act}", {"why": "mine"}).status_code == 404
    assert state(approval) == "asked"


def test_my_requests_are_those_on_my_behalf(asking: Make, person: Make, browse: Make) -> None:
    approval = asking()
    mine = browse(person("boss"))
    assert mine.get("/approvals/?view=mine").content.decode().count("data-row") == 0
    rewrite("UPDATE workflows_effect SET on_behalf_of = 'person:boss' WHERE id = %s", approval.effect_id)
    assert mine.get("/approvals/?view=mine").content.decode().count("data-row") == 1


def test_a_person_without_the_role_reads_and_decides_nothing(asking: Make, person: Make, browse: Make) -> None:
    approval = asking()
    reader = browse(person("reader"))
    page = page_of(reader, approval)
    assert "You can't approve it" in page
    assert ">Approve</button>" not in page
    assert say(reader, approval, **form(reader, approval))[0] == 403
    assert say(reader, approval, "refuse", **form(reader, approval))[0] == 403
    assert state(approval) == "asked"

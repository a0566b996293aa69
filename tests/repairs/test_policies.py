"""Policies in the console: read in words, drafted with errors by line, tried on the past, activated by another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from repairs.models import Person
from tests.engine.simulated import World
from workflows.authority import policies
from workflows.drain import drain_once
from workflows.models import Approval, Entry, Policy, Run, Team

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
QUERIES = 12


@pytest.fixture
def author(person: Make) -> User:
    user: User = person("author", "operator")
    return user


@pytest.fixture
def client(author: User, browse: Make) -> Client:
    found: Client = browse(author)
    return found


def stricter() -> str:
    """The policy in force, with a rule before all others."""
    present = policies.in_force()
    assert present is not None
    rule = "rules:\n  - name: no-more\n    when: tool.name == 't.a'\n    then: {deny: \"not this week\"}\n"
    return present.text.replace("rules:\n", rule, 1)


def plain(answer: Any) -> str:
    text: str = answer.content.decode()
    for code, char in (("&#x27;", "'"), ("&quot;", '"'), ("<bdi>", ""), ("</bdi>", "")):
        text = text.replace(code, char)
    return text


def send(client: Client, address: str, **sent: str) -> tuple[int, str]:
    answer = client.post(address, sent, follow=True)
    return answer.status_code, plain(answer)


def drafted(client: Client, text: str = "") -> Policy:
    send(client, "/policies/draft", text=text or stricter(), why="too many of them", how="keep")
    return Policy.objects.get(state="draft")


def test_a_change_is_drafted_tried_and_activated_by_another_person(
    client: Client, second: Client, world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a")
    flow = workflow("t.a")
    went: Run = run_through(flow)
    draft = drafted(client)
    page = plain(client.get(f"/policies/{draft.id}/"))
    assert "You drafted it; another person must activate it." in page
    assert '+    then: {deny: "not this week"}' in page
    _, page = send(client, f"/policies/{draft.id}/try")
    assert "It would have stopped 1." in page
    assert f'href="/runs/{went.id}/effects/' in page
    assert send(client, f"/policies/{draft.id}/activate")[0] == 403
    _, page = send(second, f"/policies/{draft.id}/activate", at="")
    assert "is in force from" in page
    assert "In force: " in plain(second.get("/policies/"))
    run_through(flow)
    assert [entry[:2] for entry in world.sends] == [("t.a", "execute")]
    actors = Entry.objects.filter(subject_id=draft.id).order_by("seq").values_list("event", "actor")
    assert list(actors) == [("draft", "person:author"), ("dry_run", "person:author"), ("activate", "person:second")]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("profile.autonomy == 'forbidden'", "profile.autonomie == 'forbidden'", "profile has no autonomie"),
        ("then: allow", "then: maybe", ""),
        ("rules:", "rulez:", ""),
        ("when: profile", "\twhen: profile", ""),
    ],
)
def test_what_is_wrong_is_said_with_its_line_and_the_text_is_kept(
    client: Client, old: str, new: str, said: str
) -> None:
    present = policies.in_force()
    assert present is not None
    text = present.text.replace(old, new, 1)
    status, page = send(client, "/policies/draft", text=text, why="a try", how="keep")
    assert status == 400
    assert said in page
    assert new.strip() in page
    assert "a try" in page
    assert Policy.objects.count() == 1
    line = next(number for number, one in enumerate(text.splitlines(), 1) if new.strip() in one)
    assert f"Line {line}<" in page


def test_a_text_can_be_checked_without_being_kept(person: Make, browse: Make) -> None:
    reader = browse(person("reader"))
    person("approver", "approver")
    status, page = send(reader, "/policies/draft", text=stricter(), how="check")
    assert (status, Policy.objects.count()) == (200, 1)
    assert "is sound, and its" in page
    assert "not this week" in page
    wrong = stricter().replace("expect:\n", "expect:\n  - {name: mine, verdict: deny}\n")
    _, page = send(reader, "/policies/draft", text=wrong, how="check")
    assert "not activated like this" in page
    assert send(reader, "/policies/draft", text=stricter(), why="mine", how="keep")[0] == 403
    assert Policy.objects.count() == 1


def test_what_is_not_tried_or_asks_nobody_isnt_activated(client: Client, second: Client) -> None:
    draft = drafted(client)
    status, page = send(second, f"/policies/{draft.id}/activate")
    assert (status, "dry run" in page) == (400, True)
    asks = stricter().replace('{deny: "not this week"}', "{ask: {approvers: [nobody-here]}}")
    send(client, f"/policies/{draft.id}/discard")
    other = drafted(client, asks)
    page = plain(second.get(f"/policies/{other.id}/"))
    assert "Nobody could answer" in page
    send(second, f"/policies/{other.id}/try")
    status, page = send(second, f"/policies/{other.id}/activate")
    assert status == 400
    assert "is no login here" in page


@pytest.mark.parametrize(
    ("at", "status", "said"),
    [
        ("soon", 400, "is no time"),
        ("2020-01-01T08:00", 400, "must lie in the future"),
        ("2099-01-01T08:00", 200, "2099"),
    ],
)
def test_it_is_activated_at_a_time_to_come(client: Client, second: Client, at: str, status: int, said: str) -> None:
    draft = drafted(client)
    send(client, f"/policies/{draft.id}/try")
    answer, page = send(second, f"/policies/{draft.id}/activate", at=at)
    assert answer == status
    assert said in page
    assert at in page
    present = policies.in_force()
    assert present is not None
    assert present.id != draft.id


def test_what_was_asked_under_another_version_is_asked_anew_and_says_so(
    client: Client, second: Client, world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.b", autonomy="ask")
    run: Run = run_through(workflow("t.b"))
    old = Approval.objects.get(run=run)
    draft = drafted(client)
    send(client, f"/policies/{draft.id}/try")
    send(second, f"/policies/{draft.id}/activate")
    drain_once()
    assert Approval.objects.get(id=old.id).state == "void"
    page = plain(second.get(f"/approvals/{old.id}/"))
    assert "Void: another version of the policy is in force" in page
    assert Approval.objects.get(run=run, state="asked").policy == str(Policy.objects.get(id=draft.id))
    assert world.sends == []


def test_looking_changes_nothing_and_acts_come_by_post_only(client: Client) -> None:
    draft = drafted(client)
    before = list(Policy.objects.values())
    for address in ("", "new", "new?shipped=careful", f"new?from={draft.id}", f"{draft.id}/"):
        assert client.get(f"/policies/{address}").status_code == 200, address
    for address in ("draft", f"{draft.id}/try", f"{draft.id}/activate", f"{draft.id}/discard"):
        assert client.get(f"/policies/{address}").status_code == 405
    for address in ("new?from=x", "019a0000-0000-7000-8000-000000000000/"):
        assert client.get(f"/policies/{address}").status_code == 404
    assert list(Policy.objects.values()) == before


def test_a_matrix_is_read_cell_by_cell(client: Client) -> None:
    draft = drafted(client, policies.shipped()["careful"])
    page = plain(client.get(f"/policies/{draft.id}/"))
    assert "writes within bounds, untrusted" in page
    assert "free writing where nothing can be trusted is left to persons" in page


def test_the_list_of_differences_shows_runs_of_ones_own_teams(
    client: Client, person: Make, browse: Make, tool: Make, workflow: Make, run_through: Make, world: World
) -> None:
    tool("t.a")
    went: Run = run_through(workflow("t.a"))
    draft = drafted(client)
    send(client, f"/policies/{draft.id}/try")
    stranger = person("stranger")
    Person.objects.create(user=stranger).teams.add(Team.objects.create(name="elsewhere"))
    page = plain(browse(stranger).get(f"/policies/{draft.id}/"))
    assert "It would have stopped 1." in page
    assert str(went.id) not in page
    assert "1 more is not listed here." in page


def test_each_page_takes_few_queries(client: Client) -> None:
    draft = drafted(client)
    send(client, f"/policies/{draft.id}/try")
    for address in ("", "new", f"{draft.id}/"):
        with CaptureQueriesContext(connection) as seen:
            client.get(f"/policies/{address}")
        assert len(seen) <= QUERIES, f"{address}: {[q['sql'][:90] for q in seen]}"

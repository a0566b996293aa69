"""The life of a key: made for one party, rotated with an overlap, revoked at once; and each act on one is kept."""

from __future__ import annotations

import datetime as dt
import io
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from tests.api.conftest import Caller, poll, problem, read
from workflows import waiting
from workflows.authority import agents, keys
from workflows.models import AgentAct, AgentKey, Effect, Run
from workflows.proof import verify

Make = Callable[..., Any]


def said(*arguments: str) -> Any:
    out = io.StringIO()
    call_command("agent_key", *arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


def opens(caller: Caller, key: str) -> bool:
    caller.key = key
    answer = caller.get("runs")
    assert answer.status_code in (200, 401)
    return answer.status_code == 200


def test_a_rotated_key_opens_beside_the_new_one_until_its_overlap_is_over(caller: Caller) -> None:
    old = caller.key
    made = said("rotate", "sim", keys.prefix_of(old), "--overlap", "1h")
    new = made["key"]
    assert opens(caller, old)
    assert opens(caller, new)
    rest = AgentKey.objects.get(prefix=made["old"])
    assert rest.expires_at
    assert abs(rest.expires_at - timezone.now() - dt.timedelta(hours=1)) < dt.timedelta(minutes=5)
    AgentKey.objects.filter(id=rest.id).update(expires_at=timezone.now() - dt.timedelta(seconds=1))
    assert not opens(caller, old)
    assert opens(caller, new)


def test_rotating_never_lengthens_a_key_s_life(caller: Caller) -> None:
    soon = timezone.now() + dt.timedelta(minutes=1)
    AgentKey.objects.update(expires_at=soon)
    keys.rotate_key(AgentKey.objects.get(), by="command", overlap=dt.timedelta(days=30))
    assert AgentKey.objects.get(prefix=keys.prefix_of(caller.key)).expires_at == soon


def test_the_key_that_takes_anothers_place_is_for_another_party(caller: Caller) -> None:
    User.objects.create_user("night-desk")
    agent = AgentKey.objects.get().agent
    old = keys.prefix_of(keys.new_key(agent, by="command", for_whom="person:night-desk"))
    new = keys.rotate_key(AgentKey.objects.get(prefix=old), by="command", overlap=dt.timedelta(0))
    assert AgentKey.objects.get(prefix=keys.prefix_of(new)).on_behalf_of == "person:night-desk"


def test_a_revoked_key_opens_nothing_from_the_next_request_on_and_its_siblings_still_do(caller: Caller) -> None:
    sibling = said("new", "sim", "--expires", "30d")["key"]
    said("revoke", "sim", caller.key, "--why", "it stood in a ticket")
    assert not opens(caller, caller.key)
    assert opens(caller, sibling)
    with pytest.raises(CommandError, match="was revoked at"):
        said("revoke", "sim", keys.prefix_of(AgentKey.objects.get(revoked_at__isnull=False).prefix), "--why", "again")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("end", ["revoked", "switched off", "rotated"])
def test_a_request_that_waits_is_refused_as_soon_as_its_key_is_revoked(
    caller: Caller, ear: waiting.Ear, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    monkeypatch.setattr(waiting, "LOOK_AGAIN", 600.0)  # only a bell can end it in time
    run = caller.start()["id"]

    def ask() -> Any:
        try:
            return caller.get(f"runs/{run}", Prefer="wait=60")
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(ask)
        poll(lambda: ear.taken)
        poll(ear.listening.is_set)
        match end:
            case "revoked":
                keys.revoke_key(AgentKey.objects.get(), by="command", why="taken away")
            case "switched off":
                agents.change(caller.agent, by="command", why="taken away", active=False)
            case _:
                keys.rotate_key(AgentKey.objects.get(), by="command", overlap=dt.timedelta(0))
        assert problem(answer.result(45)) == (401, "unauthenticated", [])


@pytest.fixture
def party(caller: Caller) -> Callable[[str], None]:
    """`party("system:billing")`: the caller goes on with a key for that party; "" is the first key again."""
    first = caller.key
    User.objects.create_user("night-desk")
    User.objects.create_user("day-desk")

    def become(whom: str) -> None:
        caller.key = said("new", "sim", "--on-behalf-of", whom)["key"] if whom else first

    return become


def test_a_key_for_one_party_neither_finds_nor_moves_what_was_done_for_another(caller: Caller, party: Make) -> None:
    party("person:night-desk")
    theirs = caller.start(workflow=None, open=True)["id"]
    party("system:billing")
    for answer in (
        caller.get(f"runs/{theirs}"),
        caller.post(f"runs/{theirs}/steps", {"name": "a", "tool": "sim.act", "arguments": {}}),
        caller.post(f"runs/{theirs}/cancel", {"reason": "x"}),
    ):
        assert problem(answer) == (404, "not_found", [])
    assert read(caller.get("runs"))["results"] == []
    party("")
    assert read(caller.get(f"runs/{theirs}"))["id"] == theirs, "the agent's own key sees all of its runs"


def test_a_call_s_key_of_one_party_gives_another_party_nothing(caller: Caller, party: Make) -> None:
    body = {"workflow": "sim", "subject": {"type": "customer", "id": "1"}}
    party("person:night-desk")
    theirs = read(caller.post("runs", body, key="same"))["id"]
    party("system:billing")
    answer = caller.post("runs", body, key="same")
    assert problem(answer)[:2] == (422, "key_reused")
    assert theirs not in answer.content.decode()


def test_for_whom_an_agent_acts_stands_on_its_run_and_on_every_effect(caller: Caller, party: Make) -> None:
    from workflows.drain import drain_once

    party("person:night-desk")
    run = caller.start()["id"]
    drain_once()
    assert Run.objects.get(id=run).on_behalf_of == "person:night-desk"
    effect = Effect.objects.get(run=run)
    assert effect.on_behalf_of == "person:night-desk"
    assert read(caller.get(f"effects/{effect.id}"))["on_behalf_of"] == "person:night-desk"
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        Effect.objects.filter(id=effect.id).update(on_behalf_of="person:somebody-else")


@pytest.mark.parametrize(
    "whom", ["night-desk", "person:", "role:x", "person: x", "person:" + "x" * 100, "person:a\n", "person:a"]
)
def test_a_party_that_names_nobody_makes_no_key(caller: Caller, whom: str) -> None:
    with pytest.raises(CommandError, match="--on-behalf-of"):
        said("new", "sim", "--on-behalf-of", whom)
    assert AgentKey.objects.count() == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["new", "nobody"],
        ["rotate", "sim", "aaaaaaaa"],
        ["rotate", "sim", "{key}", "--overlap", "soon"],
        ["new", "sim", "--expires", "0s"],
        ["revoke", "sim", "{key}"],
        ["revoke", "sim", "aaaaaaaa", "--why", "x"],
        ["forget", "sim"],
    ],
)
def test_a_wrong_command_changes_no_key(caller: Caller, arguments: list[str]) -> None:
    before = list(AgentKey.objects.values())
    with pytest.raises(CommandError):
        said(*[one.format(key=caller.key) for one in arguments])
    assert list(AgentKey.objects.values()) == before


def test_a_list_of_keys_opens_nothing(caller: Caller) -> None:
    said("new", "sim")
    out = io.StringIO()
    call_command("agent_key", "list", "sim", stdout=out)
    told = said("list", "sim")
    assert len(told["keys"]) == len(out.getvalue().splitlines()) == 2
    for text in (json.dumps(told), out.getvalue()):
        assert keys.prefix_of(caller.key) in text
        assert caller.key[12:] not in text
        assert AgentKey.objects.get(prefix=keys.prefix_of(caller.key)).digest not in text


@pytest.mark.django_db(transaction=True)
def test_every_act_on_a_key_is_kept_with_who_and_why_in_a_history_that_is_proved(caller: Caller) -> None:
    said("rotate", "sim", keys.prefix_of(caller.key), "--why", "yearly")
    keys.revoke_key(AgentKey.objects.get(expires_at__isnull=False), by="person:night-desk", why="it leaked")
    acts = [(act.what, act.by, act.why) for act in AgentAct.objects.all()]
    assert acts == [("rotate_key", "command", "yearly"), ("revoke_key", "person:night-desk", "it leaked")]
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        AgentAct.objects.update(by="person:somebody-else")
    assert verify(lambda flaw: pytest.fail(str(flaw))).subjects >= 2

"""Keys: shown once, kept as a digest, refused when expired, revoked or unknown; and the command that makes agents."""

from __future__ import annotations

import datetime as dt
import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from tests.api.conftest import Caller, problem
from workflows.authority import keys
from workflows.models import Agent, AgentKey, Tool
from workflows.tools.defaults import HOUR


def ask(authorization: str | None) -> tuple[int, str, list[str]]:
    headers = {} if authorization is None else {"Authorization": authorization}
    answer = Client().get("/api/v1/runs", headers=headers)
    if answer.status_code != 200:
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="makegood"'
        return problem(answer)
    return 200, "", []


REFUSED: tuple[int, str, list[str]] = (401, "unauthenticated", [])


@pytest.mark.parametrize(
    "sent",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Basic {0}",
        "{0}",
        "Bearer {0}x",
        "Bearer mg_aaaaaaaa_{1}",
        "Bearer \x00",
        "Bearer ключ",
    ],
)
def test_only_a_whole_key_opens(caller: Caller, sent: str | None) -> None:
    assert ask(sent and sent.format(caller.key, caller.key[12:])) == REFUSED


def test_a_key_is_kept_as_a_digest_and_opens_however_bearer_is_written(caller: Caller) -> None:
    stored = AgentKey.objects.get()
    assert caller.key.startswith(f"mg_{stored.prefix}_")
    assert caller.key[12:] not in str(AgentKey.objects.values().get())
    assert ask(f"bearer {caller.key}")[0] == ask(f"Bearer {caller.key}")[0] == 200


def test_a_key_that_expired_was_revoked_or_whose_agent_is_off_opens_nothing(caller: Caller) -> None:
    past = timezone.now() - dt.timedelta(seconds=1)
    for change, back in (({"expires_at": past}, {"expires_at": None}), ({"revoked_at": past}, {"revoked_at": None})):
        AgentKey.objects.update(**change)
        assert ask(f"Bearer {caller.key}") == REFUSED
        AgentKey.objects.update(**back)
    AgentKey.objects.update(expires_at=timezone.now() + dt.timedelta(seconds=HOUR))
    assert ask(f"Bearer {caller.key}")[0] == 200
    Agent.objects.update(active=False)
    assert ask(f"Bearer {caller.key}") == REFUSED


def test_two_keys_of_one_agent_both_open_so_that_one_can_be_rotated(caller: Caller) -> None:
    run = caller.start()["id"]
    caller.key = keys.make_key(caller.agent)
    assert caller.get(f"runs/{run}").status_code == 200


def test_use_is_noted_at_most_once_a_minute(caller: Caller) -> None:
    ask(f"Bearer {caller.key}")
    noted = AgentKey.objects.get().last_used_at
    ask(f"Bearer {caller.key}")
    assert noted
    assert AgentKey.objects.get().last_used_at == noted
    AgentKey.objects.update(last_used_at=noted - keys.USE_NOTED_EVERY)
    ask(f"Bearer {caller.key}")
    assert AgentKey.objects.get().last_used_at != noted - keys.USE_NOTED_EVERY


def made(*arguments: str) -> dict[str, str]:
    out = io.StringIO()
    call_command("create_agent", *arguments, "--json", stdout=out)
    found: dict[str, str] = json.loads(out.getvalue())
    return found


def test_a_made_agent_may_use_what_it_was_given_and_nothing_else(declared: None) -> None:
    printed = made("Sales' helper", "--tools", "sim.act", "--workflows", "sim")
    assert sorted(printed) == ["agent", "key"]
    agent = Agent.objects.get(name=printed["agent"])
    assert (agent.tools, agent.workflows) == (["sim.act"], ["sim"])
    assert ask(f"Bearer {printed['key']}")[0] == 200
    bare = Agent.objects.get(name=made("bare")["agent"])
    assert (bare.tools, bare.workflows, bare.may_use_tool("sim.act")) == ([], [], False)


def test_a_star_grants_all_later_ones_and_adhoc(declared: None) -> None:
    agent = Agent.objects.get(name=made("star", "--tools", "*", "--workflows", "*")["agent"])
    assert agent.may_use_tool("applied.later")
    assert agent.may_use_workflow("adhoc")


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["sim"], ["sim", "another name"]),
        ([" x"], ["' x'", "printable"]),
        ([""], ["NAME"]),
        (["a\x00b"], ["NAME"]),
        (["x" * 101], ["100"]),
        (["new", "--tools", "sim.act", "sim.atc"], ["--tools", "sim.atc", "apply"]),
        (["new", "--workflows", "smi"], ["--workflows", "smi"]),
        (["new", "--purpose", "x" * 501], ["--purpose", "500"]),
    ],
)
def test_a_bad_grant_or_name_makes_no_agent(caller: Caller, arguments: list[str], names: list[str]) -> None:
    with pytest.raises(CommandError) as error:
        made(*arguments)
    assert all(name in str(error.value) for name in names)
    assert Agent.objects.get() == caller.agent
    assert Tool.objects.count() == 1


def test_a_person_is_told_what_was_granted_and_the_key_once(declared: None) -> None:
    out = io.StringIO()
    call_command("create_agent", "plain", "--tools", "sim.act", stdout=out)
    assert "tools: sim.act; workflows: none" in out.getvalue()
    assert out.getvalue().count("mg_") == 1

"""Texts of agents and providers in a terminal: they move no cursor, set no title, turn nothing around, hide nothing."""

from __future__ import annotations

import io
import pkgutil
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command, load_command_class
from django.db import connection

import repairs.management.commands
import workflows.management.commands
from tests.engine.simulated import World
from workflows.engine.advance import advance
from workflows.engine.dispatch import dispatch
from workflows.management.base import PlainCommand, marked
from workflows.models import Agent, AgentKey, Effect

Make = Callable[..., Any]
ESCAPES = "\x1b]0;title\x07\x1b[2J\x1b[31m red \x1b[8mhidden \r\x1b[1A over \u202eeldnuf\u202c zero\u200bwidth \x9b5n"
STEERS = "\x1b\x07\r\u202e\u202c\u200b\x9b"


def printed(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out, stderr=out)
    return out.getvalue()


def test_every_command_of_ours_marks_what_it_prints() -> None:
    found = 0
    for package in (repairs.management.commands, workflows.management.commands):
        app = package.__name__.removesuffix(".management.commands")
        for module in pkgutil.iter_modules(package.__path__):
            assert isinstance(load_command_class(app, module.name), PlainCommand), module.name
            found += 1
    assert found > 10


@pytest.mark.parametrize("char", STEERS)
def test_d07_what_would_steer_a_terminal_becomes_a_code(char: str) -> None:
    assert marked(f"a{char}b\n\tc") == f"a[U+{ord(char):04X}]b\n\tc"


def test_half_a_surrogate_pair_is_printed_and_ends_no_command() -> None:
    assert marked("x\ud800").encode() == b"x[U+D800]"


@pytest.mark.django_db(transaction=True)
def test_a_provider_s_words_in_a_listing_are_marked(
    world: World, tool: Make, workflow: Make, begin: Make, agent: Agent
) -> None:
    tool(f"t.{ESCAPES[:40]}")
    begin(workflow(f"t.{ESCAPES[:40]}"))
    advance()
    assert len(dispatch(8)) == 1
    with connection.cursor() as cursor:
        cursor.execute("UPDATE workflows_effect SET lease_until = now() - interval '1 s'")
    told = printed("recover")
    assert "unknown" in told
    assert "[U+001B]" in told
    assert not set(told) & set(STEERS)
    assert Effect.objects.get().state == "unknown"


@pytest.mark.django_db
def test_an_agent_s_name_and_party_in_a_listing_are_marked() -> None:
    agent = Agent.objects.create(name=ESCAPES[:100], team="operations", on_behalf_of=ESCAPES[:100])
    AgentKey.objects.create(agent=agent, prefix="aaaaaaaa", digest="0" * 64, on_behalf_of=ESCAPES[:100])
    for told in (printed("agent_key", "list", agent.name), printed("team")):
        assert "[U+001B]" in told
        assert not set(told) & set(STEERS)


@pytest.mark.django_db
def test_what_was_typed_is_marked_when_it_is_said_back() -> None:
    with pytest.raises(CommandError) as refused:
        printed("agent_key", "list", ESCAPES)
    assert not set(str(refused.value)) & set(STEERS)

"""The agents' pages: what an agent may do, its keys without secrets, and the acts that only operators have."""

from __future__ import annotations

import csv
import io
import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.engine.simulated import World
from workflows.authority import keys
from workflows.models import Agent, AgentAct, AgentKey, Effect
from workflows.states import EffectState

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
QUERIES = 12


@pytest.fixture
def key(agent: Agent) -> str:
    return keys.make_key(agent)


@pytest.fixture
def operator(person: Make, browse: Make) -> Client:
    client: Client = browse(person("operator", "operator"))
    return client


def page(client: Client, agent: Agent) -> str:
    return client.get(reverse("agent", args=[agent.id])).content.decode()


def test_the_page_tells_what_an_agent_may_do_and_what_became_of_its_work(
    operator: Client, agent: Agent, key: str, stuck: Make
) -> None:
    stuck()
    stuck()
    Agent.objects.update(narrowed={"*": ["read", "verify"]}, purpose="Onboards customers.", on_behalf_of="system:sales")
    with CaptureQueriesContext(connection) as seen:
        shown = page(operator, agent)
    assert len(seen) <= QUERIES
    for text in ("every tool, later ones too", "no write", "no compensate", "Onboards customers.", "system:sales"):
        assert text in shown
    assert keys.prefix_of(key) in shown
    assert key[12:] not in shown
    assert AgentKey.objects.get().digest not in shown
    assert operator.get(reverse("agents")).context["rows"][0][0].open_keys == 1


def test_the_figures_of_an_agent_and_the_rows_behind_them_are_the_same(
    operator: Client, agent: Agent, stuck: Make, tool: Make, workflow: Make, run_through: Make
) -> None:
    stuck()
    stuck()
    tool("t.a")
    run_through(workflow("t.a"))
    context = operator.get(reverse("agent", args=[agent.id])).context
    assert context["runs"] == {"stuck": 2, "completed": 1}
    for state, number in context["runs"].items():
        rows = operator.get(f"/runs/?agent={agent.name}&state={state}").context["page"].rows
        assert len(rows) == number, state
    assert sum(context["effects"].values()) == Effect.objects.count(), "each effect is in one state"


IN_STATE = """
UPDATE workflows_effect SET state = %s, world = %s, verifiable = true, verified_at = now(), lease_until = now(),
  attempts = 1, fence = 1 WHERE id = %s
"""


def test_d04_the_figures_of_an_agents_effects_are_the_rows_of_each_state_and_together_all_of_them(
    operator: Client, agent: Agent, stuck: Make
) -> None:
    """Also of what is called off, written off or unknown; the page, the records and their file say the same."""
    for _ in range(6):
        stuck()
    acts = Effect.objects.filter(kind="forward").values_list("id", flat=True)
    assert len(acts) >= len(EffectState)
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        for pk, state in zip(acts, itertools.cycle(EffectState)):
            world = "present" if state == EffectState.VERIFIED else "nothing"
            cursor.execute(IN_STATE, [state.value, world, pk])
        cursor.execute("SET session_replication_role = DEFAULT")
    figures = operator.get(reverse("agent", args=[agent.id])).context["effects"]
    assert (set(figures), sum(figures.values())) == ({state.value for state in EffectState}, Effect.objects.count())
    page = operator.get("/admin/workflows/effect/")
    of = page.context["heads"].index("state")
    assert figures == Counter(values[of] for _, values in page.context["lines"])
    file = operator.get("/admin/workflows/effect/export").getvalue().decode()
    assert figures == Counter(line[of] for line in list(csv.reader(io.StringIO(file)))[1:-1])


def test_what_an_agent_was_denied_stands_on_its_page(
    operator: Client, world: World, agent: Agent, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a")
    Agent.objects.update(tools=[])
    run_through(workflow("t.a"))
    assert "t.a is not among the tools of agent sim" in page(operator, agent)


def test_a_key_is_shown_in_the_answer_that_made_it_and_nowhere_after(operator: Client, agent: Agent) -> None:
    form = {"why": "for the night", "life": "30d", "on_behalf_of": "person:operator"}
    answer = operator.post(reverse("agent-key-new", args=[agent.id]), form)
    made = answer.context["made"]
    assert keys.check_key(made).acts_for == "person:operator"
    assert made in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    assert made not in page(operator, agent)
    act = AgentAct.objects.get()
    assert (act.what, act.by, act.why) == ("new_key", "person:operator", "for the night")
    assert made[12:] not in str(AgentAct.objects.values().get())


def test_a_key_is_rotated_and_revoked_from_the_page(operator: Client, agent: Agent, key: str) -> None:
    prefix = keys.prefix_of(key)
    answer = operator.post(
        reverse("agent-key-rotate", args=[agent.id, prefix]), {"why": "yearly", "overlap": "1h", "life": "never"}
    )
    made = answer.context["made"]
    keys.check_key(key)
    operator.post(reverse("agent-key-revoke", args=[agent.id, prefix]), {"why": "it leaked"})
    with pytest.raises(keys.Unauthenticated, match="revoked"):
        keys.check_key(key)
    keys.check_key(made)
    assert [act.what for act in AgentAct.objects.all()] == ["rotate_key", "revoke_key"]


def test_an_agent_that_is_switched_off_opens_nothing_until_it_is_on_again(
    operator: Client, agent: Agent, key: str
) -> None:
    operator.post(reverse("agent-switch", args=[agent.id]), {"why": "it repeats itself", "to": "off"})
    with pytest.raises(keys.Unauthenticated, match="isn't active"):
        keys.check_key(key)
    operator.post(reverse("agent-switch", args=[agent.id]), {"why": "mended", "to": "on"})
    keys.check_key(key)


@pytest.mark.parametrize(
    ("name", "form", "status"),
    [
        ("agent-key-new", {"life": "30d"}, 400),
        ("agent-key-new", {"life": "soon", "why": "x"}, 400),
        ("agent-key-new", {"life": "30d", "why": "x", "on_behalf_of": "me"}, 400),
        ("agent-key-rotate", {"life": "30d", "why": "x"}, 400),
        ("agent-key-revoke", {"why": " "}, 400),
        ("agent-switch", {"to": "off"}, 400),
    ],
)
def test_a_form_that_is_not_whole_changes_nothing(
    operator: Client, agent: Agent, key: str, name: str, form: dict[str, str], status: int
) -> None:
    before = list(AgentKey.objects.values())
    more = [keys.prefix_of(key)] if name in ("agent-key-rotate", "agent-key-revoke") else []
    answer = operator.post(reverse(name, args=[agent.id, *more]), form)
    assert answer.status_code == status
    assert "Nothing was changed." in answer.content.decode()
    assert list(AgentKey.objects.values()) == before
    assert not AgentAct.objects.exists()


def test_another_agent_s_key_is_not_found_below_this_one(operator: Client, agent: Agent, key: str) -> None:
    other = Agent.objects.create(name="other")
    address = reverse("agent-key-revoke", args=[other.id, keys.prefix_of(key)])
    assert operator.post(address, {"why": "x"}).status_code == 404
    keys.check_key(key)


def test_only_operators_are_shown_and_let_do_what_changes_an_agent(
    person: Make, browse: Make, agent: Agent, key: str
) -> None:
    prefix = keys.prefix_of(key)
    for roles in (("manager",), ("repairer", "approver")):
        client = browse(person("-".join(roles), *roles))
        assert "An operator makes and revokes keys" in page(client, agent)
        for name, more in (("agent-key-new", []), ("agent-key-rotate", [prefix]), ("agent-key-revoke", [prefix])):
            address = reverse(name, args=[agent.id, *more])
            assert address not in page(client, agent)
            assert client.post(address, {"why": "x", "life": "30d", "overlap": "1h"}).status_code == 403
        assert client.post(reverse("agent-switch", args=[agent.id]), {"why": "x", "to": "off"}).status_code == 403
    assert not AgentAct.objects.exists()

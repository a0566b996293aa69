"""Who changes a budget: less holds at once, more takes a second person, and all of it is history."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.authority.purse import Make, give, of_run, priced, taken
from tests.authority.test_budgets import settled
from tests.engine.conftest import again
from tests.engine.simulated import World
from workflows import ledger, proof
from workflows.authority import raising
from workflows.authority.keys import make_key
from workflows.errors import Denied, Invalid, StaleFence
from workflows.models import Agent, Budget, BudgetChange, Entry, Run

pytestmark = pytest.mark.django_db(transaction=True)
WHY = "the spring campaign needs it"


def events(budget: Budget) -> list[str]:
    return list(Entry.objects.filter(subject_id=budget.id).order_by("seq").values_list("event", flat=True))


def test_a_raised_budget_takes_a_second_person_and_then_lets_go_who_waited(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    run = begin(workflow("t.a"), budget={"calls": 0})
    settled()
    assert again(run).state == "stuck"
    budget = of_run(run)
    _, asked = raising.change(budget.owner, "ever", {"calls": 1}, by="person:night", why=WHY)
    assert asked is not None
    settled()
    assert (asked.state, len(world.sends)) == ("asked", 0)
    with pytest.raises(Denied, match="another person"):
        raising.answer(asked.id, yes=True, by="person:night", why=WHY)
    raising.answer(asked.id, yes=True, by="person:day", why="agreed")
    settled()
    assert (again(run).state, len(world.sends)) == ("completed", 1)
    assert again(run).cases.get().state == "resolved"
    assert events(budget) == ["create", "ask_raise", "raise"]
    assert proof.verify(lambda flaw: pytest.fail(str(flaw))).flaws == 0
    with pytest.raises(StaleFence, match="already"):
        raising.answer(asked.id, yes=False, by="person:day", why=WHY)


@pytest.mark.parametrize(
    ("amounts", "state"),
    [
        ({"calls": 5}, "done"),
        ({"calls": 11}, "asked"),
        ({"calls": None}, "asked"),  # no limit at all
        ({"effects": 3}, "done"),  # one more limit
        ({"EUR": 100}, "done"),
        ({"USD": 1}, "asked"),  # of which there was none while money was limited to euros
        ({"calls": 5, "GBP": 2001}, "asked"),
    ],
)
def test_only_what_gives_less_is_done_by_one_person(amounts: dict[str, int | None], state: str, agent: Agent) -> None:
    budget = give("agent:sim", calls=10, GBP=2000) if amounts != {"EUR": 100} else give("agent:sim", calls=10)
    _, asked = raising.change("agent:sim", "ever", amounts, by="person:night", why=WHY)
    assert asked is not None
    assert asked.state == state
    after = Budget.objects.get(id=budget.id).limits
    assert (after == budget.limits) == (state == "asked")


def test_nobody_confirms_more_for_the_agent_that_spends_for_them(agent: Agent) -> None:
    give("agent:sim", calls=1)
    Agent.objects.filter(id=agent.id).update(on_behalf_of="person:day")
    _, asked = raising.change("agent:sim", "ever", {"calls": 2}, by="person:night", why=WHY)
    assert asked is not None
    with pytest.raises(Denied, match="for whom this is spent"):
        raising.answer(asked.id, yes=True, by="person:day", why=WHY)
    raising.answer(asked.id, yes=False, by="person:day", why="not this month")
    assert BudgetChange.objects.get().state == "declined"


def test_who_a_run_is_for_confirms_more_for_it(world: World, tool: Make, workflow: Make, begin: Make) -> None:
    tool("t.a")
    run = begin(workflow("t.a"), budget={"calls": 1})
    Run.objects.filter(id=run.id).update(on_behalf_of="person:day")
    _, asked = raising.change(of_run(run).owner, "ever", {"calls": 2}, by="person:night", why=WHY)
    assert asked is not None
    with pytest.raises(Denied, match="for whom this is spent"):
        raising.answer(asked.id, yes=True, by="person:day", why=WHY)


@pytest.mark.parametrize(
    ("owner", "per", "amounts", "told"),
    [
        ("agent:sim", "ever", {"calls": 10}, "is what agent sim has already"),
        ("agent:sim", "fortnight", {"calls": 1}, "must be one of ever"),
        ("run:{run}", "day", {"calls": 1}, "has one budget for all of its time"),
        ("agent:sim", "ever", {"parsecs": 1}, "is neither a currency"),
    ],
)
def test_a_limit_that_says_nothing_or_means_nothing_is_kept(
    world: World, tool: Make, workflow: Make, begin: Make, owner: str, per: str, amounts: dict[str, int], told: str
) -> None:
    give("agent:sim", calls=10)
    tool("t.a")
    run = begin(workflow("t.a"), budget={"calls": 1})
    with pytest.raises(Invalid) as refused:
        raising.change(owner.format(run=run.id), per, amounts, by="person:night", why=WHY)
    assert told in str(refused.value.flaws[0])
    assert not BudgetChange.objects.exists()


def test_who_waits_for_a_higher_budget_is_not_rung_for_when_it_is_there(
    world: World, tool: Make, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool("t.a")
    run = begin(workflow("t.a"), budget={"calls": 0})
    settled()
    _, asked = raising.change(of_run(run).owner, "ever", {"calls": 1}, by="person:night", why=WHY)
    assert asked is not None
    rung: list[Any] = []
    monkeypatch.setattr(ledger, "notify", lambda runs, *, work=False: rung.append((set(runs), work)))
    raising.answer(asked.id, yes=True, by="person:day", why="agreed")
    assert ({run.id}, True) in rung


@pytest.mark.parametrize("where", ["through another agent", "by one of its keys"])
def test_nobody_confirms_more_for_an_agent_that_spends_for_them_in_a_roundabout_way(agent: Agent, where: str) -> None:
    give("agent:sim", calls=1)
    if where == "by one of its keys":
        make_key(agent, on_behalf_of="person:day")
    else:
        Agent.objects.create(name="lead", on_behalf_of="person:day")
        Agent.objects.filter(id=agent.id).update(on_behalf_of="system:lead")
    _, asked = raising.change("agent:sim", "ever", {"calls": 2}, by="person:night", why=WHY)
    assert asked is not None
    with pytest.raises(Denied, match="for whom this is spent"):
        raising.answer(asked.id, yes=True, by="person:day", why=WHY)


def test_a_change_that_was_overtaken_is_not_confirmed(agent: Agent) -> None:
    budget = give("agent:sim", calls=10)
    _, asked = raising.change("agent:sim", "ever", {"calls": 20}, by="person:night", why=WHY)
    assert asked is not None
    with pytest.raises(StaleFence, match="waits for an answer"):
        raising.change("agent:sim", "ever", {"calls": 30}, by="person:late", why=WHY)
    raising.change("agent:sim", "ever", {"calls": 1}, by="person:late", why="it ran away")
    with pytest.raises(StaleFence, match="changed since"):
        raising.answer(asked.id, yes=True, by="person:day", why="agreed")
    assert Budget.objects.get(id=budget.id).limits == {"calls": 1}


def test_one_person_may_raise_alone_only_where_the_installation_says_so(agent: Agent, settings: Any) -> None:
    settings.FOUR_EYES = "when_possible"
    budget = give("agent:sim", calls=1)
    _, asked = raising.change("agent:sim", "ever", {"calls": 2}, by="person:night", why=WHY)
    assert asked is not None
    raising.answer(asked.id, yes=True, by="person:night", why="nobody else is there")
    assert BudgetChange.objects.get().alone
    assert Budget.objects.get(id=budget.id).limits == {"calls": 2}


def command(*arguments: str) -> dict[str, Any]:
    out = io.StringIO()
    call_command("budget", *arguments, "--json", stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def test_the_command_sets_lowers_asks_and_lists(agent: Agent, tool: Make) -> None:
    tool("t.a")
    set_ = command("agent", "sim", "--money", "EUR=5000", "--seconds", "60", "--per", "day", "--why", WHY)
    assert (set_["limits"], set_["state"]) == ({"EUR": 5000, "milliseconds": 60000}, "done")
    assert command("agent", "sim", "--money", "EUR=9", "--per", "day", "--why", WHY)["state"] == "done"
    assert command("agent", "sim", "--money", "EUR=none", "--per", "day", "--why", WHY)["state"] == "asked"
    assert command("all", "--calls", "100", "--per", "minute", "--why", WHY)["of"] == "all"
    assert command("tool", "t.a", "--worst", "EUR=70", "--why", WHY)["worst"] == {"EUR": 70}
    two = command("tool", "t.a", "--looks", "2", "--why", WHY)
    assert two == {"tool": "t.a", "worst": {"EUR": 70}, "looks": 2}
    assert Entry.objects.filter(subject_kind="toolcost").count() == 2
    assert proof.verify(lambda flaw: pytest.fail(str(flaw))).flaws == 0
    assert [(b["of"], b["per"]) for b in command()["budgets"]] == [("agent", "day"), ("all", "minute")]
    out = io.StringIO()
    call_command("budget", stdout=out)
    assert "agent sim per day: 9 EUR minor units (0 EUR minor units taken), 60 s (0 s taken)" in out.getvalue()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("agent", "nobody", "--calls", "1"), "no agent of this name"),
        (("agent", "--calls", "1"), "the others need one"),
        (("all", "sim", "--calls", "1"), "all has no name"),
        (("agent", "sim"), "say at least one"),
        (("agent", "sim", "--calls", "-1"), "--calls"),
        (("agent", "sim", "--calls", "1e3"), "'1e3'"),
        (("agent", "sim", "--calls", "9" * 16), "must be 0 to"),
        (("agent", "sim", "--money", "euro=5"), "'euro=5'"),
        (("agent", "sim", "--money", "EUR=5.00"), "'5.00'"),
        (("run", "01890000-0000-7000-8000-000000000000", "--calls", "1"), "no run of this name"),
        (("tool", "t.none", "--worst", "EUR=5"), "a tool that is applied"),
    ],
)
def test_bad_limits_change_nothing_and_say_what_to_do(arguments: tuple[str, ...], told: str, agent: Agent) -> None:
    with pytest.raises(CommandError, match=told):
        call_command("budget", *arguments, f"--why={WHY}")
    assert not Budget.objects.exists()


def test_a_change_without_a_reason_is_none(agent: Agent) -> None:
    with pytest.raises(Invalid, match="why"):
        raising.change("agent:sim", "ever", {"calls": 1}, by="person:night", why="  ")
    assert not Budget.objects.exists()


def test_what_is_raised_keeps_what_was_taken(world: World, tool: Make, workflow: Make, begin: Make) -> None:
    priced(tool("t.pay"))
    budget = give("agent:sim", EUR=100)
    flow = workflow("t.pay")
    flow.spec["steps"][0]["arguments"] = {"of": "pay", "amount": 80}
    flow.save()
    runs = [begin(flow), begin(flow)]
    settled()
    _, asked = raising.change("agent:sim", "ever", {"EUR": 159}, by="person:night", why=WHY)
    assert asked is not None
    raising.answer(asked.id, yes=True, by="person:day", why=WHY)
    settled()
    assert sorted(again(run).state for run in runs) == ["completed", "stuck"], "80 + 80 is more than 159"
    assert taken(budget)[0]["EUR"] == 80

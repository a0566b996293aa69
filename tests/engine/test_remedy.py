"""A person makes good by a new act: once, under policy and looks as ever, and the run is theirs until it is settled."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, User

from tests.authority.purse import give
from tests.authority.test_policies import activated
from tests.authority.test_policy import document, rule
from tests.clock import Clock
from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows.authority import approvals, stops, versions
from workflows.drain import drain_once
from workflows.engine import findings, people
from workflows.engine import remedy as engine
from workflows.engine.advance import advance
from workflows.engine.cancel import cancel
from workflows.engine.overdue import overdue
from workflows.engine.remedy import RemedyBody, call_off, offered, plan, remedy
from workflows.engine.steps import StepBody, add_step
from workflows.errors import Denied, Invalid, NotFound, StaleFence
from workflows.models import Agent, Approval, Effect, Entry, Run, ScopeHold, Step, Tool
from workflows.models.stop import Target
from workflows.policies import ages
from workflows.reading import effect_in_full, run_in_full

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
BY = "person:night-desk"


def ask(run: Run, tool: str = "t.refund", of: Effect | None = None, **more: Any) -> Effect:
    arguments = more.pop("arguments", {"amount": 480})
    body = RemedyBody(tool=tool, arguments=arguments, makes_good=of.id if of else None, **more)
    return remedy(run.id, body, by=BY, why="charged twice")[0]


def of(run: Run, step: str) -> Effect:
    return Effect.objects.get(run=run, step__name=step, compensates=None)


def codes(run: Run) -> list[str]:
    return [reason["code"] for reason in again(run).people_reasons]


@pytest.fixture
def refund(tool: Make) -> Any:
    return tool("t.refund", undo=False, residue="A refund was made.")


@pytest.fixture
def stuck(world: World, tool: Make, workflow: Make, run_through: Make, refund: Any) -> Run:
    """A run whose only act a look found twice."""
    tool("t.charge", scopes=["charges:one"], residue="A charge stands.")
    world.script("t.charge", "execute", "lost_after")
    world.script("t.charge", "look", "several")
    run: Run = run_through(workflow("t.charge"))
    assert codes(run) == ["several"]
    return run


@pytest.fixture
def over(world: World, tool: Make, workflow: Make, run_through: Make, refund: Any) -> Run:
    tool("t.charge", scopes=["charges:one"], residue="A charge stands.")
    run: Run = run_through(workflow("t.charge"))
    assert (run.state, run.is_clean) == ("completed", True)
    return run


def test_a_remedy_is_an_effect_of_its_own_and_the_case_stays_until_a_look_showed_it(world: World, stuck: Run) -> None:
    charge = of(stuck, "charge")
    made = ask(stuck, of=charge)
    drain_once(slots=8)
    assert states(stuck)["remedy-1 remedy"] == "verified present"
    assert Step.objects.get(run=stuck, name="remedy-1").state == "done"
    assert world.made.count(made.key) == 1
    assert codes(stuck) == ["several"], "what was made good needs a finding all the same"
    findings.found(charge.id, by=BY, why="one charge is left", result={"id": "ch_1"})
    drain_once(slots=8)
    run = again(stuck)
    assert (run.phase, run.state, run.is_clean, run.needs_person) == ("over", "repaired", False, False)


def test_a_remedy_shows_as_the_contract_says(stuck: Run, agent: Agent) -> None:
    charge = of(stuck, "charge")
    made = ask(stuck, of=charge)
    drain_once(slots=8)
    told = run_in_full(again(stuck))
    kinds = {effect["step"]: (effect["kind"], effect["state"]) for effect in told["effects"]}
    assert kinds == {"charge": ("forward", "stuck"), "remedy-1": ("remedy", "verified")}
    assert [(s["name"], s["state"], s["effect"]) for s in told["steps"]][-1] == ("remedy-1", "done", str(made.id))
    full = effect_in_full(agent, charge.id)
    assert full["made_good_by"] == [str(made.id)]
    assert effect_in_full(agent, made.id)["makes_good"] == str(charge.id)


def test_what_was_made_good_says_so_in_its_residue_and_only_once_the_remedy_was_seen(world: World, stuck: Run) -> None:
    charge = of(stuck, "charge")
    world.script("t.refund", "look", *["unreachable"] * 3)
    ask(stuck, of=charge)

    def residue() -> dict[str, str]:
        return {row["effect"]: row["statement"] for row in run_in_full(again(stuck))["residue"]}

    assert residue()[str(charge.id)] == "A charge stands."
    drain_once(slots=8)
    said = "A charge stands. Made good, which a look showed: A refund was made."
    assert residue()[str(charge.id)] == said


def test_a_run_that_is_over_opens_for_a_remedy_alone_and_ends_as_repaired(world: World, over: Run) -> None:
    world.script("t.refund", "execute", "temporary")
    ask(over, of=of(over, "charge"))
    assert again(over).phase == "unwinding"
    drain_once(slots=1)
    run = again(over)
    assert (run.phase, run.state, run.ending) == ("over", "repaired", "")
    assert states(over) == {"charge forward": "verified present", "remedy-1 remedy": "verified present"}
    assert run.residue == [], "all is as it should be"


def test_the_way_back_neither_calls_a_remedy_off_nor_undoes_it_and_ends_after_it(
    world: World, tool: Make, workflow: Make, begin: Make, agent: Agent
) -> None:
    tool("t.charge")
    tool("t.message", residue="A message was sent.")
    world.script("t.message", "look", *["unreachable"] * 2)
    run = begin(workflow("t.charge"))
    advance(only=run.id)
    made = ask(run, "t.message")
    cancel(agent, run.id, reason="no more")
    while advance():
        assert again(run).phase == "unwinding", "it ended before its remedy"
    drain_once(slots=8)
    assert states(run) == {"charge forward": "cancelled nothing", "remedy-1 remedy": "verified present"}
    assert (again(run).phase, again(run).state, world.made) == ("over", "repaired", [made.key])


def test_a_cancelled_run_with_a_remedy_undoes_what_stands_and_not_the_remedy(
    world: World, tool: Make, workflow: Make, run_through: Make, agent: Agent
) -> None:
    tool("t.charge")
    tool("t.message", residue="A message was sent.")
    tool("t.slow")
    world.script("t.slow", "execute", *["temporary"] * 2, "refused")
    run = run_through(workflow("t.charge", "t.slow", on_failure="hold"))
    assert codes(run) == ["hold"]
    ask(run, "t.message", of(run, "charge"))
    people.compensate_run(run.id, by=BY, why="undo it")
    drain_once(slots=8)
    assert states(run) == {
        "charge forward": "undone gone",
        "charge compensation": "verified present",
        "slow forward": "failed nothing",
        "remedy-1 remedy": "verified present",
    }
    run = again(run)
    assert (run.phase, run.state) == ("over", "repaired")
    assert [row["statement"] for row in run.residue] == ["A message was sent."], "the remedy stands: it is residue"


def test_a_remedy_that_gets_stuck_stays_with_the_case_and_no_step_fails_by_it(world: World, over: Run) -> None:
    world.script("t.refund", "execute", "refused")
    made = ask(over)
    drain_once(slots=8)
    run = again(over)
    assert (run.phase, run.state, codes(over)) == ("unwinding", "stuck", ["refused"])
    findings.absent(made.id, by=BY, why="paid back by bank transfer instead")
    drain_once(slots=8)
    assert states(over)["remedy-1 remedy"] == "cancelled nothing"
    run = again(over)
    assert (run.phase, run.state) == ("over", "repaired"), "a finding was used"
    assert Step.objects.get(run=over, name="remedy-1").state == "skipped"


def test_a_remedy_takes_over_the_scope_of_what_it_makes_good_and_gives_it_back(world: World, stuck: Run) -> None:
    charge = of(stuck, "charge")
    made = remedy(
        stuck.id,
        RemedyBody(tool="t.charge", arguments={"amount": 1}, makes_good=charge.id),
        by=BY,
        why="charged twice",
    )[0]
    drain_once(slots=8)
    assert states(stuck)["remedy-1 remedy"] == "verified present", "it waited for what it makes good"
    assert made.scopes == charge.scopes
    assert ScopeHold.objects.get(scope="charges:one").effect_id == charge.id


def test_a_remedy_of_what_is_settled_leaves_its_scope_to_others(world: World, over: Run) -> None:
    made = ask(over, "t.charge", of=of(over, "charge"))
    drain_once(slots=8)
    assert (Effect.objects.get(id=made.id).state, made.scopes) == ("verified", ["charges:one"])
    assert not ScopeHold.objects.exists()


def test_a_remedy_that_waited_for_more_than_what_it_makes_good_holds_goes_once_that_is_free(
    world: World, stuck: Run, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.other", scopes=["charges:two"])
    tool("t.both", scopes=["charges:one", "charges:two"], undo=False)
    world.script("t.other", "execute", "lost_after")
    world.script("t.other", "look", "several", "well")
    other = run_through(workflow("t.other"))
    made = ask(stuck, "t.both", of=of(stuck, "charge"))
    drain_once(slots=8)
    assert Effect.objects.get(id=made.id).reason == "order"
    people.look_again(of(other, "other").id, by=BY, why="is one left?")
    drain_once(slots=8)
    assert Effect.objects.get(id=made.id).state == "verified"


def test_a_remedy_asks_the_world_first_where_its_key_is_the_worlds_own(world: World, over: Run, tool: Make) -> None:
    tool("t.note", by="natural_key", undo=False)
    world.script("t.note", "look", "found")
    before = len(world.sends)
    ask(over, "t.note")
    drain_once(slots=8)
    assert (states(over)["remedy-1 remedy"], len(world.sends)) == ("verified present", before)


def test_the_same_form_sent_twice_asks_once_and_the_same_act_again_must_be_meant(stuck: Run) -> None:
    first = ask(stuck, request="form-1")
    assert ask(stuck, request="form-1").id == first.id
    with pytest.raises(Invalid, match="asked for already"):
        ask(stuck, request="form-2")
    second = ask(stuck, request="form-2", again=True)
    assert second.key != first.key
    assert [s.name for s in Step.objects.filter(run=stuck, remedy=True).order_by("ordinal")] == ["remedy-1", "remedy-2"]


def test_what_changed_since_it_was_seen_is_not_asked_for(stuck: Run) -> None:
    seen = plan(stuck.id, RemedyBody(tool="t.refund", arguments={"amount": 480})).effect
    assert not Step.objects.filter(run=stuck, remedy=True).exists(), "a plan writes nothing"
    with pytest.raises(StaleFence, match="isn't what you saw"):
        ask(stuck, arguments={"amount": 481}, digest=seen.digest)
    assert ask(stuck, digest=seen.digest).digest == seen.digest


def test_a_remedy_that_cannot_be_undone_asks_another_person_even_where_policy_allows(
    world: World, over: Run, tool: Make
) -> None:
    tool("t.pay", undo=False, effect_class="irreversible")
    made = ask(over, "t.pay")
    drain_once(slots=8)
    made = Effect.objects.get(id=made.id)
    assert (made.state, made.reason, world.made.count(made.key)) == ("blocked", "approval", 0)
    assert codes(over) == ["remedy"]
    approval = Approval.objects.get(effect=made)
    approver = Group.objects.get_or_create(name="approver")[0]
    asker, other = (User.objects.create(username=name) for name in ("night-desk", "day-desk"))
    asker.groups.add(approver)
    other.groups.add(approver)
    assert "asked for it" in approvals.why_not(approval, made, asker)
    assert approvals.why_not(approval, made, other) == ""
    call_off(made.id, by=BY, why="settled by phone")
    drain_once(slots=8)
    run = again(over)
    assert (run.phase, run.state, run.is_clean) == ("over", "completed", True), "nothing of it ever left"


def test_policy_and_stops_stand_before_a_remedy_and_the_agents_end_does_not(
    world: World, over: Run, tool: Make, agent: Agent
) -> None:
    tool("t.never", autonomy="forbidden")
    with pytest.raises(Denied, match="forbidden"):
        ask(over, "t.never")
    Agent.objects.filter(id=agent.id).update(active=False, tools=[])
    stops.freeze(Target.AGENT, agent.name, by="person:operator", why="it went wrong")
    ask(over)
    drain_once(slots=8)
    assert states(over)["remedy-1 remedy"] == "verified present"
    stops.freeze(Target.TOOL, "t.refund", by="person:operator", why="it refunds twice")
    ask(over, arguments={"amount": 1})
    drain_once(slots=8)
    assert states(over)["remedy-2 remedy"] == "blocked nothing"


def test_what_is_under_way_only_reads_or_does_not_fit_is_refused_whole(
    world: World, stuck: Run, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.read", effect_class="read_only", undo=False)
    with pytest.raises(Invalid, match="made good"):
        ask(stuck, "t.read")
    with pytest.raises(Invalid, match="unknown tool"):
        ask(stuck, "t.nothing")
    people.look_again(of(stuck, "charge").id, by=BY, why="once more")
    with pytest.raises(Invalid, match="still under way"):
        ask(stuck, of=of(stuck, "charge"))
    assert not Step.objects.filter(run=stuck, remedy=True).exists()


def test_a_slow_remedy_is_no_deadline_and_an_agents_next_step_does_not_wait_for_it(
    world: World, tool: Make, workflow: Make, begin: Make, agent: Agent, refund: Any
) -> None:
    tool("t.pay", undo=False, effect_class="irreversible")
    tool("t.note")
    run = begin(workflow(open_=True), open=True)
    ask(run, "t.pay")
    body = StepBody(name="note", tool="t.note", arguments={}, digest=str(uuid.uuid4()))
    step, _ = add_step(agent, run.id, body)
    assert step.after == []
    drain_once(slots=8)
    assert states(run) == {"remedy-1 remedy": "blocked nothing", "note forward": "verified present"}
    Run.objects.filter(id=run.id).update(deadline=run.created_at, advance_at=run.created_at)
    before = codes(run)
    advance(only=run.id)
    assert (again(run).sealed, before, codes(run)) == (True, ["remedy"], ["remedy"]), "its case closed for a moment"
    drain_once(slots=8)
    assert again(run).phase == "running", "a remedy that waits for a yes made the run turn back"


def test_a_remedy_that_nobody_takes_is_told_as_one_that_is_on_its_way(clock: Clock, world: World, over: Run) -> None:
    ask(over)
    advance()
    assert codes(over) == ["remedy"]
    clock.step(ages.BOUNDS["ready"] + 60)
    assert overdue() == {over.id}
    advance()
    assert codes(over) == ["remedy", "no_progress"]


def test_who_asked_and_why_stand_in_the_journal(stuck: Run) -> None:
    made = ask(stuck)
    created = Entry.objects.get(subject_id=made.id, event="create")
    assert created.actor == BY
    assert Entry.objects.filter(subject_id=stuck.id, event="remedy", actor=BY).exists()


def test_what_left_or_may_have_and_what_is_no_remedy_is_not_called_off(
    world: World, over: Run, tool: Make, workflow: Make, run_through: Make
) -> None:
    blind = tool("t.blind", verify=False, undo=False)
    blind.spec["retry"] = {"attempts": 3, "first": 60.0, "max": 60.0, "within": 600.0}
    blind.save()
    world.script("t.blind", "execute", "lost_after")
    seen, maybe = ask(over), ask(over, "t.blind")
    drain_once(slots=8)
    maybe = Effect.objects.get(id=maybe.id)
    assert (maybe.state, maybe.doubt) == ("ready", True)
    tool("t.ask", autonomy="ask")
    waits = Effect.objects.get(run=run_through(workflow("t.ask")))
    assert (waits.state, waits.world) == ("blocked", "nothing")
    for effect in (seen, maybe, of(over, "charge"), waits):
        with pytest.raises(Invalid, match="can be called off"):
            call_off(effect.id, by=BY, why="never mind")


def test_a_remedy_draws_on_the_budgets_and_says_when_only_a_higher_one_lets_it_go(over: Run, agent: Agent) -> None:
    give(f"agent:{agent.name}", effects=1)
    first = ask(over)
    drain_once(slots=8)
    assert Effect.objects.get(id=first.id).state == "verified"
    second = Effect.objects.get(id=ask(over, arguments={"amount": 1}).id)
    drain_once(slots=8)
    second = Effect.objects.get(id=second.id)
    assert (second.state, second.reason, codes(over)) == ("blocked", "budget", ["budget"])


def test_what_a_second_person_refuses_stays_with_the_case_and_nothing_fails_by_it(
    world: World, over: Run, tool: Make
) -> None:
    tool("t.pay", undo=False, effect_class="irreversible")
    made = ask(over, "t.pay")
    drain_once(slots=8)
    other = User.objects.create(username="day-desk")
    other.groups.add(Group.objects.get_or_create(name="approver")[0])
    asked = Approval.objects.get(effect=made)
    approvals.refuse(asked.id, by=other, why="they were paid back already", seen_digest=asked.digest)
    drain_once(slots=8)
    made = Effect.objects.get(id=made.id)
    assert (made.state, made.world, codes(over), world.made.count(made.key)) == ("stuck", "nothing", ["policy"], 0)
    assert Step.objects.get(run=over, name="remedy-1").state == "active"
    with pytest.raises(Invalid, match="can be called off"):
        call_off(made.id, by=BY, why="never mind")


def test_what_may_not_be_made_good_or_not_by_that_tool_is_refused(
    world: World, over: Run, run_through: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NotFound, match="no such effect"):
        ask(run_through(over.workflow), of=of(over, "charge"))
    done = ask(over)
    drain_once(slots=8)
    with pytest.raises(Invalid, match="a remedy itself"):
        ask(over, of=done, again=True)
    versions.withdraw(Tool.objects.get(name="t.refund"), by=BY, why="it pays twice")
    assert [one.name for one in offered(over.id)] == ["t.charge"]
    with pytest.raises(Denied, match="withdrawn"):
        ask(over, arguments={"amount": 1})
    monkeypatch.setattr(engine, "MOST", 1)
    with pytest.raises(Invalid) as refused:
        ask(over, "t.charge")
    assert "at most 1 remedies" in str(refused.value.flaws[0])
    assert Step.objects.filter(remedy=True).count() == 1


def test_an_undoing_is_made_good_in_place_of_what_it_undoes(
    world: World, tool: Make, workflow: Make, run_through: Make, refund: Any
) -> None:
    tool("t.charge")
    tool("t.mail")
    world.script("t.mail", "execute", "refused")
    world.script("t.charge", "compensate", "refused")
    run = run_through(workflow("t.charge", "t.mail"))
    with pytest.raises(Invalid, match="name what it undoes"):
        ask(run, of=Effect.objects.get(run=run, kind="compensation"))
    assert ask(run, of=of(run, "charge")).makes_good_id == of(run, "charge").id


def test_what_was_called_off_or_made_good_another_act_must_be_meant_once_more(over: Run, tool: Make) -> None:
    tool("t.pay", undo=False, effect_class="irreversible")
    first = ask(over, "t.pay")
    call_off(first.id, by=BY, why="settled by phone")
    second = ask(over, "t.pay", request="later")
    assert ask(over, "t.pay", of=of(over, "charge"), request="for that").key not in (first.key, second.key)


def test_a_rule_that_needs_the_arguments_keeps_a_tool_from_being_offered(over: Run, tool: Make) -> None:
    expect = "expect: [{facts: {arguments: {amount: 1}}, verdict: allow}]"
    activated(document(rule("arguments.amount < 100"), expect=expect))
    assert [one.name for one in offered(over.id)] == ["t.charge", "t.refund"]
    with pytest.raises(Denied):
        ask(over)

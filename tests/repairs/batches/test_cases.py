"""What becomes of each case of a batch: acted on only as it was chosen, and told of where it is left alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from repairs.acts import claim, look_again
from repairs.bulk import acting, running, standing
from repairs.models import Act, Batch, Case, Person
from repairs.models.batch import BatchAct
from tests.engine.simulated import World
from tests.repairs.batches.making import asked, of_cause, said, states
from workflows import rows
from workflows.drain import drain_once
from workflows.errors import StaleFence
from workflows.models import Effect, Entry, Team

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_d02_a_batch_acts_on_what_was_chosen_and_is_as_it_was_and_tells_of_each_that_it_left(
    stuck: Make, many: Make, repairer: User, person: Make, world: World
) -> None:
    cases = many(25)
    batch = of_cause(repairer)
    other = person("night desk", "repairer")
    for case in cases[:3]:
        effect = Effect.objects.get(run=case.run, state="stuck")
        look_again.look_again(case.id, effect_id=effect.id, by=other, why="removed", fence=case.fence)
    for effect in Effect.objects.filter(run__in=[case.run_id for case in cases[:3]], kind="forward"):
        world.things.pop(effect.key, None)
    drain_once()
    claim.claim(cases[3].id, by=other)
    new = [stuck() for _ in range(4)]
    before = Act.objects.count()
    asked(batch, repairer)
    running.run()
    batch.refresh_from_db()
    assert (batch.count, batch.state, states(batch)) == (25, "done", {"done": 21, "skipped": 4})
    assert [said(batch, case) for case in cases[:3]] == ["It is closed; nothing is left to do."] * 3
    assert said(batch, cases[3]) == "It is not as it was when you chose it; read it anew."
    looked = set(Act.objects.filter(kind="look_again", by=repairer).values_list("case_id", flat=True))
    assert looked == {case.id for case in cases[4:]}
    assert not looked & {case.id for case in new}
    assert Act.objects.count() == before + 21
    asked(batch, repairer)
    running.run()
    assert Act.objects.count() == before + 21, "the same submit again acts again"


def test_a_look_at_many_claims_none_and_says_who_why_and_by_which_batch(stuck: Make, repairer: User) -> None:
    case = stuck()
    batch = of_cause(repairer)
    asked(batch, repairer)
    running.run()
    act = Act.objects.get(kind="look_again")
    assert (act.case_id, act.by, act.why) == (case.id, repairer, f"the CRM is back ({batch.name})")
    assert Case.objects.get(id=case.id).claimed_by is None
    events = Entry.objects.filter(subject_id=batch.id).order_by("seq").values_list("event", "actor")
    assert list(events) == [("ask", "person:repairer"), ("done", "engine")]


def test_what_somebody_else_holds_is_left_to_them_and_what_is_mine_is_given_back(
    stuck: Make, repairer: User, person: Make
) -> None:
    mine, theirs, free = stuck(), stuck(), stuck()
    claim.claim(mine.id, by=repairer)
    claim.claim(theirs.id, by=person("night desk", "repairer"))
    batch = of_cause(repairer, BatchAct.CLAIM)
    shown = {line.item.case_id: line.prospect for line in standing.lines(batch, batch.items.all(), rows.now())}
    assert (shown[mine.id].kind, shown[theirs.id].kind, shown[free.id].will) == (
        "yours already",
        "held by others",
        True,
    )
    assert "night desk holds it until" in shown[theirs.id].says
    asked(batch, repairer)
    running.run()
    assert states(batch) == {"done": 1, "skipped": 2}
    assert Case.objects.of(repairer.pk).count() == 2
    back = of_cause(repairer, BatchAct.RELEASE)
    asked(back, repairer)
    running.run()
    assert states(back) == {"done": 2, "skipped": 1}
    assert not Case.objects.of(repairer.pk).exists()


def test_a_case_that_meets_a_bug_or_a_refusal_keeps_no_other_from_its_turn(
    many: Make, repairer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = many(3)
    batch = of_cause(repairer)
    asked(batch, repairer)
    real = acting.do

    def do(of: Batch, line: Any) -> Any:
        if line.item.case_id == cases[0].id:
            raise KeyError("a bug")
        if line.item.case_id == cases[1].id:
            raise StaleFence("not now")
        return real(of, line)

    monkeypatch.setattr(acting, "do", do)
    running.run()
    found = [batch.items.get(case=case) for case in cases]
    assert [item.state for item in found] == ["failed", "refused", "done"]
    assert found[1].said == "not now"


def test_who_lost_the_role_or_the_team_acts_no_more_through_what_they_asked_for(stuck: Make, repairer: User) -> None:
    stuck()
    batches = [of_cause(repairer), of_cause(repairer)]
    for batch in batches:
        asked(batch, repairer)
    team = Team.objects.create(name="elsewhere")
    person = Person.objects.create(user=repairer)
    person.teams.add(team)
    assert running.one()
    person.teams.clear()
    repairer.groups.clear()
    running.run()
    assert [states(batch) for batch in batches] == [{"refused": 1}] * 2
    assert not Act.objects.exists()

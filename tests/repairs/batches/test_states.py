"""What may be said to a batch in which state, and by whom it is seen: each word counts once, and at its time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import Http404

from repairs import worklist
from repairs.acts import bulk
from repairs.bulk import choosing, running, seen
from repairs.desk import desk_for
from repairs.models import Batch, Case, Person
from repairs.models.batch import BatchAct
from tests.repairs.batches.making import asked, of_cause, states
from workflows import rows
from workflows.errors import Denied, Invalid, StaleFence
from workflows.models import Entry, Team

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_a_word_is_taken_in_a_state_that_it_does_not_fit(stuck: Make, repairer: User, second: User) -> None:
    stuck()
    draft = of_cause(repairer)
    for word in (bulk.stop, bulk.resume):
        with pytest.raises(StaleFence):
            word(draft.id, by=repairer)
    with pytest.raises(StaleFence):
        bulk.decline(draft.id, by=second, why="no")
    running_one = asked(draft, repairer)
    with pytest.raises(StaleFence):
        bulk.decline(running_one.id, by=second, why="no")
    running.run()
    with pytest.raises(StaleFence):
        bulk.stop(draft.id, by=repairer)
    assert asked(draft, repairer).state == "done", "asked for again, it is done again"
    assert [e.event for e in Entry.objects.filter(subject_id=draft.id).order_by("seq")] == ["ask", "done"]


def test_what_another_chose_is_asked_for_in_their_name(stuck: Make, repairer: User, person: Make) -> None:
    stuck()
    batch = of_cause(repairer)
    with pytest.raises(Denied, match="chose these cases"):
        asked(batch, person("night desk", "repairer"))
    assert (Batch.objects.get(id=batch.id).state, states(batch)) == ("draft", {"waiting": 1})


def test_whose_cases_a_person_cannot_see_are_chosen_by_them_or_their_batches_shown(
    stuck: Make, repairer: User, second: User, person: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choosing, "ALONE", 0)
    case = stuck()
    batch = asked(of_cause(repairer), repairer)
    assert [one.id for one in seen.asked(desk_for(second))] == [batch.id]
    assert seen.asked(desk_for(person("night desk", "repairer"))) == [], "who is no approver is asked"
    repairer.groups.set(person("both", "repairer", "approver").groups.all())
    assert seen.asked(desk_for(repairer)) == [], "who asked is asked"
    other = person("other-desk", "repairer", "approver")
    Person.objects.create(user=other).teams.add(Team.objects.create(name="elsewhere"))
    assert seen.asked(desk_for(other)) == []
    with pytest.raises(Http404):
        seen.found(desk_for(other), batch.id)
    with pytest.raises(Invalid):
        of_cause(other)
    Case.objects.filter(id=case.id).update(state="resolved", closed_at=rows.now())
    with pytest.raises(Invalid, match="No open case"):
        of_cause(repairer)
    with pytest.raises(Invalid):
        choosing.ticked(desk_for(repairer), ["9" * 19])
    view = worklist.view_of("all")
    assert view
    with pytest.raises(Invalid):
        choosing.freeze(
            desk_for(repairer),
            BatchAct.CLAIM,
            choosing.matching(desk_for(other), view, worklist.Choice(team=case.owner), rows.now()),
            "x",
        )

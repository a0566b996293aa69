"""A case that ends every worker that takes it: the others get their turn, and a person gets it and can ask again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from repairs.acts import bulk
from repairs.bulk import acting, running
from repairs.models import Act, Batch, BatchItem, Case
from repairs.models.act import Outcome
from tests.repairs.batches.making import Killed, asked, of_cause, said, states
from workflows.policies.poison import TOO_OFTEN

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


@pytest.fixture
def three(many: Make, repairer: User) -> tuple[Batch, Case]:
    """A batch of three cases that was asked for, and the first of them."""
    many(3)
    batch = asked(of_cause(repairer), repairer)
    return batch, batch.items.order_by("id")[0].case


@pytest.fixture
def deadly(monkeypatch: pytest.MonkeyPatch) -> Callable[[Case], list[Any]]:
    """`deadly(case)`: whoever acts on it dies. Gives the cases that were acted on, or died of."""

    def make(poison: Case) -> list[Any]:
        met, real = [], acting.act

        def act(batch: Batch, item: BatchItem) -> Any:
            met.append(item.case_id)
            if item.case_id == poison.id:
                raise Killed
            return real(batch, item)

        monkeypatch.setattr(running, "act", act)
        return met

    return make


def lives() -> bool:
    """A task's turn; whether its process came back from it."""
    try:
        running.run()
    except Killed:
        return False
    return True


def test_a_case_that_ends_its_workers_is_taken_for_ever_or_keeps_the_others_from_their_turn(
    three: tuple[Batch, Case], deadly: Make, client: Client
) -> None:
    batch, poison = three
    met = deadly(poison)
    assert not lives()
    assert [lives() for _ in range(TOO_OFTEN - 1)] == [False] * (TOO_OFTEN - 1)
    assert states(batch) == {"done": 2, "waiting": 1}, "one dead worker held up the innocent"
    assert lives()
    batch.refresh_from_db()
    assert (met.count(poison.id), states(batch), batch.state) == (TOO_OFTEN, {"done": 2, "failed": 1}, "done")
    assert "Every worker that took it died" in said(batch, poison)
    act = Act.objects.get(case=poison)
    assert (act.kind, act.outcome, act.by) == ("look_again", Outcome.REFUSED.value, batch.by)
    assert "Every worker that took it died" in client.get(f"/repairs/{poison.number}/").content.decode()
    assert "Every worker that took it died" in client.get(f"/repairs/batches/{batch.id}/").content.decode()


def test_a_person_cannot_ask_again_once_the_program_is_mended(
    three: tuple[Batch, Case], deadly: Make, monkeypatch: pytest.MonkeyPatch, repairer: User
) -> None:
    batch, poison = three
    deadly(poison)
    while not lives():
        pass
    assert states(batch) == {"done": 2, "failed": 1}
    monkeypatch.setattr(running, "act", acting.act)
    again = asked(of_cause(repairer), repairer)
    assert lives()
    assert again.items.get(case=poison).state == "done"


def test_what_was_not_tried_counts_as_tried(three: tuple[Batch, Case], repairer: User) -> None:
    batch, _ = three
    taken = running.take()
    assert taken is not None
    bulk.stop(batch.id, by=repairer)
    running.meet(taken.id)
    assert (states(batch), BatchItem.objects.get(id=taken.id).tries) == ({"waiting": 3}, 0)


def test_a_case_that_two_workers_take_at_once_is_acted_on_twice(three: tuple[Batch, Case]) -> None:
    _, first = three
    taken = running.take()
    assert taken is not None
    BatchItem.objects.exclude(id=taken.id).update(tries=2)
    other = running.take()  # before the first one has begun with it
    assert other is not None
    assert taken.id == other.id
    for one in (taken, other):
        running.meet(one.id)
    assert (BatchItem.objects.get(id=taken.id).state, Act.objects.filter(case=first).count()) == ("done", 1)

"""Which cases a batch is about: what was chosen, frozen as it was, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from repairs import worklist
from repairs.bulk import choosing, standing
from repairs.desk import desk_for
from repairs.models import Batch, BatchItem, Case
from repairs.models.batch import BatchAct
from tests.repairs.batches.making import CAUSE, asked, of_cause
from workflows import rows
from workflows.errors import Invalid

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_what_was_chosen_is_frozen_once_it_was_asked_for(stuck: Make, repairer: User) -> None:
    stuck()
    batch = of_cause(repairer)
    asked(batch, repairer)
    other = stuck()
    item = batch.items.get()
    for wrong in (
        lambda: BatchItem.objects.create(batch=batch, case=other, version="1.1.1"),
        lambda: BatchItem.objects.filter(id=item.id).update(version="9.9.9"),
        lambda: BatchItem.objects.filter(id=item.id).update(case=other),
        lambda: item.delete(),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            wrong()


def test_a_batch_of_nothing_of_everything_or_of_too_much_is_refused(
    stuck: Make, repairer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, view = desk_for(repairer), worklist.VIEWS[0]
    case = stuck()
    with pytest.raises(Invalid, match="Narrow the queue first"):
        choosing.matching(desk, view, worklist.Choice(), rows.now())
    for numbers, words in (
        ([], "Tick at least one"),
        ([str(case.number)] * 2, "open the queue anew"),
        (["1'"], "open the queue anew"),
        (["999999"], "open the queue anew"),
        ([str(n) for n in range(501)], "At most 500"),
    ):
        with pytest.raises(Invalid, match=words):
            choosing.ticked(desk, numbers)
    with pytest.raises(Invalid, match="No open case is like that"):
        choosing.freeze(desk, BatchAct.CLAIM, Case.objects.none(), "none")
    monkeypatch.setattr(choosing, "MOST", 1)
    stuck()
    with pytest.raises(Invalid, match="More than 1 cases"):
        of_cause(repairer)
    assert not Batch.objects.exists()


def test_a_batch_of_many_is_chosen_and_shown_in_as_many_statements_as_one_of_few(stuck: Make, repairer: User) -> None:
    numbers = []
    for _ in range(2):
        stuck(), stuck()
        with CaptureQueriesContext(connection) as seen:
            batch = of_cause(repairer)
            standing.lines(batch, batch.items.all(), rows.now())
        numbers.append(len(seen))
        assert not any('"input"' in q["sql"] or '"residue"' in q["sql"] for q in seen), "payloads are read for a list"
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"of": ["all", "ticked"]}, "is given twice"),
        ({"act": ["claim", "release"]}, "is given twice"),
        ({"cause": ["", "crm.contact v1: refused, undoing"]}, "is given twice"),
        ({"of": "all", "cause": ""}, "Narrow the queue first"),
        ({"of": "ticked"}, "Tick at least one"),
        ({"of": ""}, "neither ticked nor all"),
        ({"act": "write_off"}, "is none of look_again"),
        ({"view": "closed"}, "Closed cases are left alone"),
    ],
)
def test_d02_a_choice_that_can_mean_two_things_or_everything_is_refused(
    stuck: Make, client: Client, form: dict[str, Any], words: str
) -> None:
    stuck()
    answer = client.post("/repairs/batches/new", {"act": "claim", "of": "all", "cause": CAUSE.cause, **form})
    assert (answer.status_code, words in answer.content.decode()) == (400, True)
    assert not Batch.objects.exists()


def test_a_refused_choice_keeps_its_ticks(stuck: Make, client: Client) -> None:
    case = stuck()
    form = {"act": "none", "of": "ticked", "case": str(case.number)}
    page = client.post("/repairs/batches/new", form).content.decode()
    assert page.count(" checked") == page.count('data-tick aria-label="Tick C-') + 1 == 2  # the switch of the keys too

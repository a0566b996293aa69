"""The second person of a batch: who may say yes, and what nobody answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, transaction

from repairs.acts import bulk
from repairs.bulk import choosing, running
from repairs.models import Act, Batch, Notice
from repairs.models.batch import BatchAct
from repairs.notices import sending
from tests.repairs.batches.making import HELD, asked, of_cause, states, text_of
from tests.repairs.receiving import BASE, Hook, written
from workflows import rows
from workflows.errors import Denied, StaleFence
from workflows.models import Entry

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_a_large_batch_takes_two_different_people_or_says_alone(
    stuck: Make, repairer: User, person: Make, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setattr(choosing, "ALONE", 1)
    stuck(), stuck()
    repairer.groups.set(person("both", "repairer", "approver").groups.all())
    batch = of_cause(repairer)
    with pytest.raises(Denied, match="two people"):
        asked(batch, repairer, alone=True)
    assert asked(batch, repairer).state == "asked"
    running.run()
    assert states(batch) == {"waiting": 2}, "nothing is done before the second yes"
    with pytest.raises(Denied, match="another person"):
        bulk.confirm(batch.id, by=repairer, why="yes", digest=batch.digest)
    with pytest.raises(Denied, match="approver"):
        bulk.confirm(batch.id, by=person("night desk", "repairer"), why="yes", digest=batch.digest)
    second = person("second", "approver")
    with pytest.raises(StaleFence, match="another list"):
        bulk.confirm(batch.id, by=second, why="yes", digest="0" * 64)
    with pytest.raises(DatabaseError), transaction.atomic():
        Batch.objects.filter(id=batch.id).update(state="running")
    bulk.confirm(batch.id, by=second, why="seen", digest=batch.digest)
    running.run()
    assert states(batch) == {"done": 2}
    settings.FOUR_EYES = "when_possible"
    stuck(), stuck()
    alone = asked(of_cause(repairer), repairer, alone=True)
    assert (alone.state, alone.alone) == ("running", True)
    assert Entry.objects.get(subject_id=alone.id, event="ask").actor == "person:repairer"


def test_a_declined_or_forgotten_batch_is_never_carried_out(
    stuck: Make, repairer: User, person: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choosing, "ALONE", 0)
    stuck()
    declined, forgotten, draft = of_cause(repairer), of_cause(repairer), of_cause(repairer)
    asked(declined, repairer), asked(forgotten, repairer)
    bulk.decline(declined.id, by=person("second", "approver"), why="call them first")
    monkeypatch.setattr(running, "ASKED_FOR", rows.now() - rows.now())
    running.sweep()
    assert Batch.objects.get(id=forgotten.id).state == "declined", "time never confirms"
    with pytest.raises(StaleFence):
        bulk.confirm(forgotten.id, by=User.objects.get(username="second"), why="yes", digest=forgotten.digest)
    monkeypatch.setattr(running, "DRAFTS_KEPT", rows.now() - rows.now())
    running.sweep()
    assert not Batch.objects.filter(id=draft.id).exists()
    running.run()
    assert not Act.objects.exists()


def test_who_can_confirm_a_batch_hears_nothing_of_it_or_still_once_it_is_answered(
    held: Make, repairer: User, second: User, browse: Make, told: Make
) -> None:
    hook = Hook()
    with hook.open() as url:
        told(approver=url, **{"sim-desk": url.replace("hidden", "other")})
        held(2)
        Notice.objects.all().delete()
        look = asked(of_cause(repairer, cause=HELD), repairer)
        assert (look.state, written()) == ("running", []), "one person is enough, and nobody is asked"
        declined, waits = (asked(of_cause(repairer, BatchAct.TURN_BACK, HELD), repairer) for _ in range(2))
        asked(waits, repairer)
        assert sorted(set(written())) == [("batch", "approver", "sim-desk"), ("batch", "sim-desk", "sim-desk")]
        assert Notice.objects.count() == 4, "asked for again it is told again"
        bulk.decline(declined.id, by=second, why="call them first")
        sending.send()
    said = f"1 batch waits for a second person (sim-desk).\n{BASE}/repairs/batches/"
    assert [one["message"] for one in hook.told] == [said, said]
    line = f"{waits.name}, Undo what stands: {repairer.username} waits for your word, 2 cases."
    assert line in text_of(browse(second).get("/repairs/"))

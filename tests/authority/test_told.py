"""Notices of time that runs out on approvals, and of who was given rights: to whom, when, and how often."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from repairs.acts import people, second_factor
from repairs.models import Notice
from repairs.notices import nearing, sending, standing
from tests.authority.asking import later
from tests.engine.simulated import World
from tests.repairs.receiving import BASE, written
from workflows.drain import drain_once
from workflows.models import Approval, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
Tell = Callable[..., None]


def test_an_approval_that_nobody_decides_is_told_once_more_before_its_time_is_over_and_when_it_was_in_vain(
    told: Tell, world: World, asking: Callable[..., tuple[Run, Approval]]
) -> None:
    told(approver="json://127.0.0.1:1/a")
    run, first = asking()
    Notice.objects.all().delete()
    sending.sweep()
    assert written() == [], "most of its time is left"
    part(first, 0.9)
    sending.sweep()
    sending.sweep()
    assert written() == [("expiring", "approver", first.agent.team)]
    later(first)
    assert not standing.still_true(list(Notice.objects.all())), "what is over isn't told as nearly over"
    drain_once()
    later(Approval.objects.get(run=run, state="asked"))
    drain_once()
    assert [what for what, _, _ in written()] == ["expiring", "approval", "expired"]
    last = Notice.objects.get(what="expired")
    assert standing.still_true([last]) == {last.id}
    assert sending.said_of([last])[1].startswith("1 approval ran out undecided, twice: its act is not sent")


def test_those_that_were_told_keep_others_whose_time_is_nearly_over_from_being_told(
    told: Tell, world: World, asking: Callable[..., tuple[Run, Approval]], monkeypatch: pytest.MonkeyPatch
) -> None:
    told(approver="json://127.0.0.1:1/a")
    made = [asking(f"t.{name}")[1] for name in "ab"]
    for approval in made:
        part(approval, 0.9)
    monkeypatch.setattr(nearing, "MOST", 1)
    for _ in made:
        sending.sweep()
    assert {notice.subject for notice in Notice.objects.filter(what="expiring")} == {one.id for one in made}


def part(approval: Approval, share: float) -> None:
    """As if so much of its time were over."""
    ends = "now() + (expires_at - asked_at) * %s, asked_at = now() - (expires_at - asked_at) * %s"
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE workflows_approval SET expires_at = {ends} WHERE id = %s", [1 - share, share, approval.id]
        )


def test_who_is_made_or_given_rights_by_another_is_told_to_who_judges_and_of_oneself_nothing(
    told: Tell, person: Make
) -> None:
    told(auditor="json://127.0.0.1:1/a", approver="json://127.0.0.1:1/b")
    people.create("second-desk", ["approver"], [], by="person:admin", why="a second person, or the same")
    people.change("second-desk", roles=["operator"], by="person:admin", why="moved")
    assert written() == [("person", "auditor", "")] * 2
    second_factor.begin(person("own"))
    assert len(written()) == 2
    said = sending.said_of(list(Notice.objects.all()))[1]
    assert said == f"2 changes of who may decide.\n{BASE}/people/"

"""What is said of many cases at once: a fact beside each, all set aside until a time, help asked for with each."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from repairs.acts import claim, escalate
from repairs.bulk import running
from repairs.models import Act, Batch, Case
from repairs.models.batch import BatchAct
from tests.repairs.batches.making import asked, figures, of_cause, said, states
from workflows.errors import Invalid
from workflows.models import Entry

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_a_fact_stands_beside_each_case_also_of_others_and_of_a_button_pressed_twice_once(
    many: Make, repairer: User, person: Make
) -> None:
    cases = many(3)
    claim.claim(cases[0].id, by=person("night desk", "repairer"))
    batch = of_cause(repairer, BatchAct.FACT)
    asked(batch, repairer)
    asked(batch, repairer)
    running.run()
    facts = Act.objects.filter(kind="fact")
    assert {fact.case_id for fact in facts} == {case.id for case in cases}
    assert {fact.why for fact in facts} == {f"the CRM is back ({batch.name})"}
    holders = Case.objects.order_by("number").values_list("claimed_by__username", flat=True)
    assert list(holders) == ["night desk", None, None], "a note takes no claim"


def test_a_reason_as_long_as_may_be_is_kept_with_the_batchs_name(many: Make, repairer: User) -> None:
    many(1)
    batch = of_cause(repairer, BatchAct.FACT)
    asked(batch, repairer, why="x" * 1000)
    running.run()
    fact = Act.objects.get(kind="fact")
    assert (len(fact.why), fact.why.endswith(f"x ({batch.name})")) == (1000, True)


def test_all_wake_at_the_same_moment_but_for_one_whose_cut_off_is_before_it(
    many: Make, repairer: User, person: Make
) -> None:
    soon, theirs, *rest = many(4)
    batch = of_cause(repairer, BatchAct.SNOOZE)
    asked(batch, repairer, typed={"cause": "provider", "until": "2h"})
    Case.objects.filter(id=soon.id).update(cutoff=soon.opened_at + dt.timedelta(hours=1), cutoff_reason="the key ends")
    claim.claim(theirs.id, by=person("night desk", "repairer"))
    running.run()
    assert states(batch) == {"done": 2, "refused": 1, "skipped": 1}
    assert said(batch, soon).startswith("By then it is too late: the cut-off is at")
    batch.refresh_from_db()
    (end,) = set(Case.objects.filter(id__in=[case.id for case in rest]).values_list("snoozed_until", flat=True))
    assert end == dt.datetime.fromisoformat(batch.given["until"])
    assert end == (batch.asked_at or end) + dt.timedelta(hours=2)
    assert Case.objects.filter(claimed_by=repairer).count() == 0
    assert not Case.objects.get(id=soon.id).snoozed_until, "a refused one is left as it was"
    given = Entry.objects.get(subject_id=batch.id, event="ask")
    assert given.actor == "person:repairer"


def test_help_is_asked_for_once_a_case_and_whoever_holds_it_keeps_it(many: Make, repairer: User, person: Make) -> None:
    already, theirs, free = many(3)
    night = person("night desk", "repairer")
    escalate.escalate(already.id, by=night, to="operator", why="their key")
    claim.claim(theirs.id, by=night)
    batch = of_cause(repairer, BatchAct.ESCALATE)
    assert figures(batch) == {"waiting": 2, "escalated already": 1}
    asked(batch, repairer, typed={"to": "manager"})
    running.run()
    found = dict(Case.objects.values_list("id", "escalated_to"))
    assert found == {already.id: "operator", theirs.id: "manager", free.id: "manager"}
    assert Case.objects.get(id=theirs.id).claimed_by == night
    assert said(batch, free) == "Escalated to manager."


@pytest.mark.parametrize(
    ("act", "typed", "words"),
    [
        (BatchAct.SNOOZE, {"cause": "provider"}, "Say until when"),
        (BatchAct.SNOOZE, {"cause": "provider", "until": "15d"}, "too far away"),
        (BatchAct.SNOOZE, {"cause": "boredom", "until": "2h"}, "Choose from the list"),
        (BatchAct.ESCALATE, {}, "no such role or team"),
        (BatchAct.ESCALATE, {"to": "nobody\x00"}, "no such role or team"),
    ],
)
def test_what_an_act_has_to_know_is_checked_before_it_is_asked_for(
    many: Make, repairer: User, act: BatchAct, typed: dict[str, str], words: str
) -> None:
    many(1)
    batch = of_cause(repairer, act)
    with pytest.raises(Invalid, match=words):
        asked(batch, repairer, typed=typed)
    assert Batch.objects.get().state == "draft"


def test_a_refused_form_keeps_what_was_typed_and_a_whole_one_says_what_was_given(many: Make, client: Client) -> None:
    many(2)
    form = {"act": "snooze", "of": "all", "view": "all", "cause": "crm.contact v1: refused, undoing"}
    place = client.post("/repairs/batches/new", form)["Location"]
    typed = {"digest": Batch.objects.get().digest, "why": "they deploy tonight", "cause": "provider", "until": "never"}
    answer = client.post(f"{place}ask", typed)
    page = answer.content.decode()
    assert answer.status_code == 400
    assert "must be a length like 30m" in page
    for kept in ("they deploy tonight</textarea>", 'value="never"', '<option value="provider" selected>'):
        assert kept in page, kept
    page = client.post(f"{place}ask", {**typed, "until": "1d"}, follow=True).content.decode()
    assert "is under way." in page
    assert ": Waits for the provider</dd>" in page

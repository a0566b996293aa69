"""Runbooks: every cause has one, its place is kept, and what was otherwise is recorded and blocks nothing."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from repairs import runbook
from repairs.acts import note, tick
from repairs.models import Act
from repairs.runbook import UNDOING, of_signature, runbooks
from repairs.words.reasons import CLAUSES
from workflows.errors import Invalid, StaleFence
from workflows.making import canonical_digest

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]

# What each version says. Whoever changes a runbook raises its version, so that a tick means what was read.
TOLD = {
    "back-again": (1, "032a0c2ea4b310f5"),
    "budget": (1, "c3bf189c65260297"),
    "decide": (2, "be00ec9d1b4ca6e3"),
    "held": (1, "f436064775f1ecf7"),
    "not-known": (1, "8fa233be04f42332"),
    "not-ours": (1, "4f7d19e625ecd103"),
    "not-undone": (1, "cf55719480d31c65"),
    "opened-again": (3, "72598a47d382064e"),
    "program": (1, "f4c095757b069bd2"),
    "refused": (1, "f9dc2b51c11c7460"),
    "remedy": (1, "5c1f0c79a1f05584"),
    "several": (1, "f626e833715cd9fb"),
}


def test_a_cause_has_no_runbook_or_two() -> None:
    causes = [cause for one in runbooks().values() for cause in one.causes]
    assert len(causes) == len(set(causes))
    assert {cause.removesuffix(UNDOING) for cause in causes} == set(CLAUSES)
    for code in CLAUSES:
        for signature in (f"crm.create v1: {code}", f"crm.create v1: {code}, undoing", f"run: {code}"):
            assert of_signature(signature) is not None, signature
    assert of_signature("crm.create v1: refused, undoing") is runbooks()["not-undone"]
    assert of_signature("crm.create v1: refused") is runbooks()["refused"]
    assert of_signature("") is None


def test_a_runbook_changes_under_one_version() -> None:
    told = {
        one.name: (one.version, canonical_digest([(step.do, step.expect) for step in one.steps])[:16])
        for one in runbooks().values()
    }
    assert told == TOLD


def test_a_place_is_lost_or_a_deviation_blocks(
    stuck: Make, repairer: User, person: Make, browse: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(note, "TWICE", dt.timedelta(0))  # however long ago a step was ticked, it is ticked once
    case, client = stuck(), browse(repairer)
    at, book = f"/repairs/{case.number}", runbooks()["not-undone"]
    form = {"runbook": book.name, "version": book.version, "step": 1}
    for _ in range(2):
        answer = client.post(f"{at}/tick", {**form, "how": "expected"})
        assert (answer.status_code, answer["Location"]) == (302, f"{at}/#step-2"), "the page opens at the next step"
    assert 'id="step-2" tabindex="-1"' in client.get(f"{at}/").content.decode()
    assert client.post(f"{at}/tick", {**form, "step": len(book.steps), "how": "expected"})["Location"].endswith(
        f"#step-{len(book.steps)}"
    )
    other = browse(person("night desk", "repairer"))
    other.post(f"{at}/tick", {**form, "step": 2, "how": "otherwise", "text": "they did neither"})
    places = client.get(f"{at}/").context["places"]
    assert [(p.said and p.said.by.get_username(), p.deviated) for p in places[:3]] == [
        ("repairer", False), ("night desk", True), (None, False),
    ]  # fmt: skip
    assert places[1].said.why == "they did neither"
    assert [act.detail for act in Act.objects.filter(kind="tick")] == [book.steps[0].words, book.steps[-1].words]
    client.post(f"{at}/tick", {**form, "step": 2, "how": "expected"})
    assert not client.get(f"{at}/").context["places"][1].deviated, "the last word counts"


def test_a_tick_counts_in_another_version(
    stuck: Make, repairer: User, browse: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, book = stuck(), runbooks()["not-undone"]
    tick.tick(case.id, by=repairer, name=book.name, version=book.version, step=1)
    newer = dataclasses.replace(book, version=book.version + 1)
    monkeypatch.setattr(tick, "runbooks", lambda: {book.name: newer})
    monkeypatch.setattr(runbook, "_by_cause", lambda: {"refused/undoing": newer})
    with pytest.raises(StaleFence, match="version 2 by now"):
        tick.tick(case.id, by=repairer, name=book.name, version=book.version, step=2)
    page = browse(repairer).get(f"/repairs/{case.number}/")
    assert [place.said for place in page.context["places"]] == [None] * len(book.steps)
    assert book.steps[0].words in page.content.decode(), "history keeps what was ticked"


def test_a_step_that_there_is_not_is_ticked_or_words_of_a_deviation_are_lost(
    stuck: Make, repairer: User, browse: Make
) -> None:
    case, client = stuck(), browse(repairer)
    book = runbooks()["not-undone"]
    for name, step in ((book.name, 0), (book.name, 99), ("none", 1)):
        with pytest.raises(Invalid):
            tick.tick(case.id, by=repairer, name=name, version=1, step=step)
    form = {"runbook": book.name, "version": 7, "step": 2, "how": "otherwise", "text": "they did neither"}
    answer = client.post(f"/repairs/{case.number}/tick", form)
    assert (answer.status_code, "they did neither</textarea>" in answer.content.decode()) == (409, True)
    answer = client.post(f"/repairs/{case.number}/tick", {**form, "version": 1, "text": " "})
    assert (answer.status_code, "Say what was otherwise." in answer.content.decode()) == (400, True)
    for how in ({"how": ""}, {"how": "done"}):
        answer = client.post(f"/repairs/{case.number}/tick", {**form, "version": book.version, **how})
        assert (answer.status_code, "is neither expected nor otherwise" in answer.content.decode()) == (400, True)
    assert not Act.objects.exists()

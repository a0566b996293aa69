"""A case opened by hand: from the page of a run that has none, and all that may be done to the run is done there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from repairs.acts.open_case import open_case
from repairs.models import Act, Case, Person
from repairs.models.act import ActKind
from tests.engine.conftest import again, states
from tests.engine.simulated import World
from tests.repairs.previews import shown
from workflows import ledger, rows
from workflows.authority import stops
from workflows.drain import drain_once
from workflows.engine import reopen as runs
from workflows.errors import Denied, Invalid, NotFound, StaleFence
from workflows.models import Effect, Entry, Run, Stop, Team
from workflows.replay.check import check

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
WHY = {"why": "the customer called: it is the wrong one", "how": "under-way"}


@pytest.fixture
def going(world: World, tool: Make, workflow: Make, begin: Make) -> Run:
    """A contact stands, and the booking after it waits for a stop that somebody else set. Nothing needs a person."""
    for name in ("crm.contact", "cal.book"):
        tool(name)
    run: Run = begin(workflow("crm.contact", "cal.book"))
    stops.freeze("tool", "cal.book", by="person:operator", why="x")
    drain_once(slots=8)
    assert (again(run).state, Case.objects.exists()) == ("running", False)
    return again(run)


def lifted() -> None:
    stops.lift(Stop.objects.get().id, by="person:another", why="x")


def opened(client: Client, run: Run, **form: str) -> Any:
    return client.post(f"/runs/{run.id}/open-case", {**WHY, **form})


def test_a_run_without_a_case_cannot_be_cancelled_by_who_knows_that_it_is_wrong(
    going: Run, repairer: User, browse: Make, world: World
) -> None:
    client, sends = browse(repairer), len(world.sends)
    assert "Open a case, to cancel it, stop it or make good" in client.get(f"/runs/{going.id}/").content.decode()
    done = opened(client, going)
    case = Case.objects.select_related("run").get()
    assert done.headers["Location"] == f"/repairs/{case.number}/"
    assert (case.state, case.harm, case.claimed_by, case.run.phase, case.run.state) == (
        "open", "said", repairer, "running", "stuck",
    )  # fmt: skip
    drain_once(slots=8)
    assert (again(going).needs_person, len(world.sends)) == (True, sends), "it was forgotten, or something was sent"
    page = client.get(f"/repairs/{case.number}/").content.decode()
    for piece in (
        "wrong, while the run goes on; 1 of its effects stands",
        "opened the case by hand",
        "What they say: <bdi>the customer called: it is the wrong one</bdi>",
        "Cancel the run: undo what stands",
        "Stop the run where it is",
        "the run goes on as it does now",
    ):
        assert piece in page, piece
    assert "Open a case, to cancel it" not in client.get(f"/runs/{going.id}/").content.decode()
    form = {"why": "undo it", "fence": case.fence}
    assert client.post(f"/repairs/{case.number}/cancel", form).status_code == 400, "nobody was shown what is undone"
    form["preview"] = shown(ActKind.CANCEL, case, None, repairer)
    assert client.post(f"/repairs/{case.number}/cancel", form).status_code == 302
    lifted()
    drain_once(slots=8)
    assert states(going) == {
        "contact forward": "undone gone",
        "contact compensation": "verified present",
        "book forward": "cancelled nothing",
    }
    case = Case.objects.get()
    assert (case.state, again(going).phase, again(going).state) == ("open", "over", "stuck"), "a person closes it"
    assert "although the run is over" in case.sentence
    client.post(f"/repairs/{case.number}/close", {"why": "the customer was told", "fence": case.fence})
    assert (Case.objects.get().state, again(going).state) == ("resolved", "compensated")
    assert [act.kind for act in Act.objects.filter(case=case)] == ["open_case", "claim", "cancel", "close"]
    assert check(going.id)[1] == []


def test_a_run_that_was_stopped_where_it_is_cannot_be_let_go_forward_from_the_case_opened_by_hand(
    going: Run, repairer: User, browse: Make
) -> None:
    client = browse(repairer)
    opened(client, going)
    case = Case.objects.get()
    for kind in (ActKind.HOLD, ActKind.RESUME):
        told = {"why": "as we agreed", "fence": case.fence, "preview": shown(kind, case, None, repairer)}
        assert client.post(f"/repairs/{case.number}/{kind.value}", told).status_code == 302, kind
        drain_once(slots=8)
        offered = f"/repairs/{case.number}/close" in client.get(f"/repairs/{case.number}/").content.decode()
        assert offered == (kind == ActKind.RESUME), "what would be refused is offered, or the way out isn't"
    assert sorted(r["code"] for r in again(going).people_reasons) == ["person"]
    lifted()
    drain_once(slots=8)
    assert (again(going).phase, Case.objects.get().state) == ("over", "open")


def test_a_run_is_held_back_or_called_unclean_by_a_word_that_was_taken_back(
    going: Run, repairer: User, browse: Make
) -> None:
    client = browse(repairer)
    opened(client, going)
    case = Case.objects.get()
    client.post(f"/repairs/{case.number}/close", {"why": "it was another customer", "fence": case.fence})
    assert (again(going).state, again(going).needs_person, Case.objects.get().state) == ("running", False, "resolved")
    lifted()
    drain_once(slots=8)
    assert (again(going).state, again(going).is_clean, Case.objects.get().state) == ("completed", True, "resolved")
    assert check(going.id)[1] == []


def test_a_case_is_closed_by_a_word_while_something_has_just_got_stuck(going: Run, repairer: User) -> None:
    case = open_case(going.id, by=repairer, why="x", over=False)
    contact = Effect.objects.get(run=going, step__name="contact")
    with transaction.atomic():
        ledger.wake_runs([going.id])
        contact.stick(reason="gone", detail="a look showed it", world="gone")
        ledger.save_effects([contact], now=rows.now())
    with pytest.raises(Invalid, match="just got stuck"):
        runs.settle(going.id, by="person:repairer", why="x")
    drain_once(slots=8)
    assert (Case.objects.get(id=case.id).state, sorted(r["code"] for r in again(going).people_reasons)) == (
        "open", ["gone", "person"],
    )  # fmt: skip


def test_a_form_sent_twice_opens_twice_or_takes_another_s_word_for_its_own(
    going: Run, repairer: User, night: User, browse: Make
) -> None:
    mine, theirs = browse(repairer), browse(night)
    assert [opened(mine, going).status_code for _ in range(2)] == [302, 302]
    assert [act.kind for act in Act.objects.all()] == ["open_case", "claim"]
    refused = opened(theirs, going, why="we heard of it too")
    said = refused.content.decode()
    assert (refused.status_code, f"{Case.objects.get().name} is open by now" in said) == (409, True)
    assert Entry.objects.filter(subject_id=going.id, actor="person:repairer").count() == 1
    assert opened(theirs, going).status_code == 409, "in the same words it is still another's"
    assert opened(mine, going, why="and they called again").status_code == 409, "a new reason would be lost"
    Case.objects.update(opened_at=rows.now())
    assert opened(mine, going).status_code == 409, "it was opened once more since, for something else"


@pytest.mark.parametrize(
    ("form", "status", "says"),
    [
        ({"why": " "}, 400, "Not done."),
        ({"how": ""}, 400, "Say which you mean"),
        ({"how": "over"}, 409, "The run goes on again by now"),
    ],
)
def test_a_form_that_is_not_whole_or_stale_opens_a_case_or_loses_what_was_typed(
    going: Run, repairer: User, browse: Make, form: dict[str, str], status: int, says: str
) -> None:
    refused = opened(browse(repairer), going, **form)
    page = refused.content.decode()
    assert (refused.status_code, says in page, Case.objects.exists()) == (status, True, False)
    assert f"required>{(WHY | form)['why']}</textarea>" in page
    assert "<details open>" in page


def test_a_page_that_showed_a_run_under_way_opens_a_case_of_one_that_is_over(
    going: Run, repairer: User, browse: Make
) -> None:
    lifted()
    drain_once(slots=8)
    client = browse(repairer)
    refused = opened(client, going)
    assert (refused.status_code, "The run is over by now" in refused.content.decode()) == (409, True)
    assert opened(client, going, how="over").status_code == 302
    case = Case.objects.select_related("run").get()
    assert (case.state, case.run.phase, case.run.is_clean) == ("open", "over", False)
    assert "still wrong, although the run is over" in case.sentence


def test_a_closed_case_of_a_run_is_joined_by_a_second_one(stuck: Make, repairer: User, browse: Make) -> None:
    case, client = stuck(), browse(repairer)
    page = client.get(f"/runs/{case.run_id}/").content.decode()
    assert "Open the case" not in page
    Run.objects.filter(id=case.run_id).update(needs_person=False, people_reasons=[], phase="running", state="running")
    Case.objects.filter(id=case.id).update(state="resolved", closed_at=rows.now())
    assert f"Open {case.name} again" in client.get(f"/runs/{case.run_id}/").content.decode()
    opened(client, case.run)
    assert [(one.id, one.state, one.reopened) for one in Case.objects.all()] == [(case.id, "open", 1)]
    assert Act.objects.filter(case=case, kind="reopen").count() == 1


def test_who_may_not_act_on_a_case_opens_one(going: Run, person: Make, browse: Make) -> None:
    approver = person("approver", "approver")
    assert opened(browse(approver), going).status_code == 403
    assert "open-case" not in browse(approver).get(f"/runs/{going.id}/").content.decode()
    with pytest.raises(Denied):
        open_case(going.id, by=approver, why="x", over=False)
    other = person("other-team", "repairer")
    Person.objects.create(user=other).teams.set([Team.objects.create(name="elsewhere")])
    assert opened(browse(other), going).status_code == 404
    assert not Case.objects.exists()


def test_what_needs_a_person_already_needs_them_for_a_word_too(stuck: Make, repairer: User) -> None:
    case = stuck()
    with pytest.raises(Invalid, match="already"):
        runs.reopen(case.run_id, by="person:other", why="x")
    with pytest.raises(StaleFence, match="is open by now"):
        open_case(case.run_id, by=repairer, why="x", over=False)
    with pytest.raises(NotFound):
        open_case(Effect().id, by=repairer, why="x", over=False)


def test_the_page_of_a_run_asks_more_for_the_form_than_for_itself(going: Run, repairer: User, browse: Make) -> None:
    client = browse(repairer)
    with CaptureQueriesContext(connection) as asked:
        assert client.get(f"/runs/{going.id}/").status_code == 200
    assert len(asked) <= 12

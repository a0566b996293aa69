"""One act on many cases: only those that were chosen, each only as it was, and all of it told case by case."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, InterfaceError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django_q.models import OrmQ

from repairs import worklist
from repairs.acts import bulk, claim, look_again
from repairs.bulk import acting, choosing, running, standing
from repairs.desk import desk_for
from repairs.models import Act, Batch, BatchItem, Case, Person
from repairs.models.batch import BatchAct
from tests.engine.simulated import World
from workflows import rows
from workflows.drain import drain_once
from workflows.errors import Denied, Invalid, StaleFence
from workflows.models import Effect, Entry, Team

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
CAUSE = worklist.Choice(cause="crm.contact v1: refused, undoing")


@pytest.fixture
def repairer(person: Make) -> User:
    user: User = person("repairer", "repairer")
    return user


@pytest.fixture
def many(stuck: Make, begin: Make, world: World) -> Callable[[int], list[Case]]:
    """So many cases of one cause, driven together."""

    def make(number: int) -> list[Case]:
        first = stuck()
        for _ in range(number - 1):
            world.script("mail.send", "execute", "refused")
            world.script("crm.contact", "compensate", "refused")
        runs = [begin(first.run.workflow) for _ in range(number - 1)]
        drain_once()
        return [first, *Case.objects.filter(run__in=runs).order_by("number")]

    return make


def of_cause(user: User, act: BatchAct = BatchAct.LOOK_AGAIN) -> Batch:
    desk = desk_for(user)
    view = worklist.view_of("all")
    assert view
    return choosing.freeze(desk, act, choosing.matching(desk, view, CAUSE, rows.now()), "all of one cause")


def asked(batch: Batch, by: User, **more: Any) -> Batch:
    return bulk.ask(batch.id, by=by, why="the CRM is back", digest=batch.digest, **more)


def states(batch: Batch) -> Counter[str]:
    return Counter(batch.items.values_list("state", flat=True))


def said(batch: Batch, case: Case) -> str:
    return str(batch.items.get(case=case).said)


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


def test_a_stopped_batch_does_nothing_more_and_goes_on_where_it_was(many: Make, repairer: User, person: Make) -> None:
    many(3)
    batch = of_cause(repairer)
    asked(batch, repairer)
    assert running.one()
    bulk.stop(batch.id, by=person("night desk", "repairer"))
    running.run()
    assert states(batch) == {"done": 1, "waiting": 2}
    with pytest.raises(Denied):
        bulk.resume(batch.id, by=User.objects.get(username="night desk"))
    bulk.resume(batch.id, by=repairer)
    running.run()
    assert states(batch) == {"done": 3}
    assert Act.objects.filter(kind="look_again").count() == 3


def test_when_a_stop_has_returned_no_case_is_acted_on_any_more(
    many: Make, repairer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    many(2)
    batch = of_cause(repairer)
    asked(batch, repairer)
    inside, go, order = threading.Event(), threading.Event(), []
    real = acting.act

    def slow(*args: Any) -> Any:
        inside.set()
        go.wait(10)
        order.append("acted")
        return real(*args)

    monkeypatch.setattr(running, "act", slow)

    def work() -> None:
        try:
            running.one()
        finally:
            connection.close()

    worker = threading.Thread(target=work)
    worker.start()
    assert inside.wait(10)

    def stop() -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config('application_name', 'stopper', false)")
            bulk.stop(batch.id, by=repairer)
            order.append("stopped")
        finally:
            connection.close()

    stopper = threading.Thread(target=stop)
    stopper.start()
    waits = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'stopper' AND wait_event_type = 'Lock'"
    with connection.cursor() as cursor:
        for _ in range(100_000):
            cursor.execute(waits)
            if cursor.fetchone()[0] or order:
                break
    go.set()
    worker.join()
    stopper.join()
    assert order == ["acted", "stopped"]
    assert states(batch) == {"done": 1, "waiting": 1}


class Killed(BaseException):
    """Nothing catches it, as nothing catches a SIGKILL."""


def test_a_batch_whose_worker_was_killed_goes_on_and_does_no_case_twice(
    many: Make, repairer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    many(3)
    batch = of_cause(repairer)
    asked(batch, repairer)
    real = acting.act

    def act(of: Batch, item: BatchItem) -> Any:
        done = real(of, item)
        if states(of)["done"] == 1:
            connection.connection.close()  # the server undoes what wasn't committed, as when a worker dies
            raise Killed
        return done

    monkeypatch.setattr(running, "act", act)
    with pytest.raises((Killed, InterfaceError)):
        running.run()
    connection.close()
    monkeypatch.undo()
    assert states(batch) == {"done": 1, "waiting": 2}
    OrmQ.objects.all().delete()
    running.sweep()
    assert OrmQ.objects.count() == 1, "the sweep rings for what no task is at"
    running.run()
    assert states(batch) == {"done": 3}
    assert Act.objects.filter(kind="look_again").count() == 3
    assert Batch.objects.get(id=batch.id).state == "done"


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


@pytest.fixture
def client(repairer: User, browse: Make) -> Client:
    found: Client = browse(repairer)
    return found


def test_d02_the_count_on_the_button_is_of_what_was_frozen_and_each_case_says_what_becomes_of_it(
    many: Make, client: Client, person: Make
) -> None:
    cases = many(3)
    claim.claim(cases[0].id, by=person("night desk", "repairer"))
    form = {"act": "look_again", "of": "all", "view": "all", "cause": CAUSE.cause}
    place = client.post("/repairs/batches/new", form)["Location"]
    page = client.get(place).content.decode()
    assert "Look again at 2 cases" in page
    assert "2 of 3 would be acted on; skipped: 1 held by others." in page
    assert "night desk holds it until" in page
    batch = Batch.objects.get()
    said = client.post(f"{place}ask", {"why": "it is back", "digest": batch.digest}, follow=True).content.decode()
    assert f"{batch.name} is under way." in said
    running.run()
    page = client.get(place).content.decode()
    assert "3 of 3 met: 2 being looked at, 1 skipped." in page
    again = client.post(f"{place}ask", {"why": "it is back", "digest": batch.digest}, follow=True).content.decode()
    assert "nothing is done twice" in again
    drain_once()
    assert "2 still open" in client.get(place).content.decode()


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


def test_nobody_sees_another_s_draft_or_asks_for_it(many: Make, client: Client, person: Make, browse: Make) -> None:
    many(2)
    batch = of_cause(User.objects.get(username="repairer"))
    other = browse(person("night desk", "repairer"))
    place = f"/repairs/batches/{batch.id}/"
    assert [other.get(place).status_code, client.get(place).status_code] == [404, 200]
    assert other.post(f"{place}ask", {"why": "x", "digest": batch.digest}).status_code == 404
    assert client.post(f"{place}ask", {"why": "typed with care", "digest": "0"}).status_code == 409
    assert "typed with care" in client.post(f"{place}ask", {"why": "typed with care"}).content.decode()
    assert Batch.objects.get().state == "draft"


def test_what_moves_of_a_batch_is_answered_once_and_in_few_queries(many: Make, client: Client) -> None:
    many(2)
    batch = of_cause(User.objects.get(username="repairer"))
    place = f"/repairs/batches/{batch.id}/progress"
    for address in (place, f"/repairs/batches/{batch.id}/", "/repairs/batches/"):
        with CaptureQueriesContext(connection) as seen:
            assert client.get(address).status_code == 200
        assert len(seen) <= 12, address
    before = client.get(place)
    assert client.get(place, headers={"If-None-Match": before["ETag"]}).status_code == 304
    asked(batch, User.objects.get(username="repairer"))
    running.run()
    assert client.get(place, headers={"If-None-Match": before["ETag"]}).status_code == 200

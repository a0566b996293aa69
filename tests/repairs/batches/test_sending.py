"""Acts that send, on many cases: each sends what two people were shown of it, by the act of its own page, and once."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from repairs import preview
from repairs.acts import bulk, claim
from repairs.bulk import choosing, running, sending, standing
from repairs.desk import desk_for
from repairs.models import Act, Batch, Case
from repairs.models.act import ActKind
from repairs.models.batch import BatchAct
from tests.engine.simulated import SimTool, World
from tests.repairs.batches.making import HELD, asked, confirmed, figures, of_cause, said, states
from workflows import rows
from workflows.drain import drain_once
from workflows.engine import people
from workflows.errors import Denied, Invalid
from workflows.models import Effect
from workflows.tools.call import Call
from workflows.tools.draft import Draft

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def shown(batch: Batch) -> list[str]:
    """The keys of all that the page says would be sent, by case and in order."""
    lines = standing.lines(batch, batch.items.all(), rows.now())
    made = [line.sending.preview for line in lines if line.prospect.will and line.sending]
    return [planned.effect.key for one in made if one for planned in one.sends]


def test_what_two_people_were_shown_of_many_cases_is_sent_once_and_nothing_else(
    held: Make, repairer: User, second: User, world: World
) -> None:
    cases = held(3)
    batch = of_cause(repairer, BatchAct.TURN_BACK, HELD)
    before, keys = len(world.sends), shown(batch)
    assert len(keys) == 6, "two undoings a case"
    confirmed(batch, repairer, second)
    running.run()
    assert states(batch) == {"done": 3}
    assert figures(batch) == {"under way": 3}
    drain_once()
    assert sorted(key for _, _, key in world.sends[before:]) == sorted(keys)
    assert figures(batch) == {"undone, verified": 3}
    assert set(Case.objects.values_list("state", flat=True)) == {"resolved"}
    acts = Act.objects.filter(kind="turn_back")
    assert {act.case_id for act in acts} == {case.id for case in cases}
    assert {(act.by, act.why) for act in acts} == {(repairer, f"the CRM is back ({batch.name}, confirmed by second)")}
    asked(batch, repairer)
    running.run()
    drain_once()
    assert len(world.sends) == before + 6, "the same submit again sends again"


def test_a_refused_undoing_is_sent_again_under_its_own_key_for_all_of_a_cause(
    many: Make, repairer: User, second: User, world: World
) -> None:
    many(2)
    effects = list(Effect.objects.filter(state="stuck").order_by("id"))
    batch, before = of_cause(repairer, BatchAct.TRY_AGAIN), len(world.sends)
    assert set(shown(batch)) == {effect.key for effect in effects}
    world.script("crm.contact", "compensate", "well", "refused")
    confirmed(batch, repairer, second)
    running.run()
    drain_once()
    assert {key for _, _, key in world.sends[before:]} == {effect.key for effect in effects}
    assert figures(batch) == {"undone, verified": 1, "stuck again": 1}


def test_an_act_is_offered_to_a_batch_that_the_page_of_its_case_does_not_offer(
    held: Make, stuck: Make, repairer: User, browse: Make
) -> None:
    other, (one,) = stuck(), held(1)
    browser, cases = browse(repairer), Case.objects.all()
    for act in (BatchAct.TURN_BACK, BatchAct.TRY_AGAIN, BatchAct.UNDO_AGAIN):
        batch = choosing.freeze(desk_for(repairer), act, cases, "both")
        for line in standing.lines(batch, batch.items.all(), rows.now()):
            case = line.item.case
            stuck_one = Effect.objects.filter(run=case.run, state="stuck").first()
            address = f"/repairs/{case.number}/preview/{act.value}/"
            if act != BatchAct.TURN_BACK:
                address += str(stuck_one.id if stuck_one else case.run_id)
            assert (browser.get(address).status_code == 200) == line.prospect.will, (act, line.prospect)
    batch = choosing.freeze(desk_for(repairer), BatchAct.TURN_BACK, cases, "both")
    will = {line.item.case_id: line.prospect for line in standing.lines(batch, batch.items.all(), rows.now())}
    assert (will[one.id].will, will[other.id].kind) == (True, "not possible")
    assert will[other.id].says == "Its next safe act is another: Look again."


def test_what_changed_or_is_held_or_would_send_something_else_by_its_turn_is_acted_on(
    held: Make, repairer: User, second: User, person: Make, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, elsewhere, same = held(3)
    batch = of_cause(repairer, BatchAct.TURN_BACK, HELD)
    confirmed(batch, repairer, second)
    claim.claim(theirs.id, by=person("night desk", "repairer"))
    real, before = SimTool.draft, len(world.sends)

    def draft(tool: SimTool, call: Call) -> list[Draft]:
        other = call.run["id"] == str(elsewhere.run_id)
        return [Draft(line="POST https://elsewhere.example/")] if other else real(tool, call)

    monkeypatch.setattr(SimTool, "draft", draft)
    running.run()
    drain_once()
    assert states(batch) == {"done": 1, "skipped": 2}
    assert said(batch, theirs) == "It is not as it was when you chose it; read it anew."
    assert said(batch, elsewhere) == "What would be sent is not what you were shown; read it anew."
    assert set(Act.objects.filter(kind="turn_back").values_list("case_id", flat=True)) == {same.id}
    assert len(world.sends) == before + 2


def test_what_sends_is_done_by_one_person_or_by_anybody_without_a_second(
    held: Make, repairer: User, person: Make, settings: Any
) -> None:
    held(1)
    batch = of_cause(repairer, BatchAct.TURN_BACK, HELD)
    with pytest.raises(Denied, match="two people"):
        asked(batch, repairer, alone=True)
    assert asked(batch, repairer).state == "asked"
    repairer.groups.add(*person("both", "approver").groups.all())
    with pytest.raises(Denied, match="another person"):
        bulk.confirm(batch.id, by=repairer, why="yes", digest=batch.digest)
    running.run()
    assert states(batch) == {"waiting": 1}
    with pytest.raises(DatabaseError), transaction.atomic():
        Batch.objects.filter(id=batch.id).update(needs_second=False, state="running")
    settings.FOUR_EYES = "when_possible"
    alone = asked(of_cause(repairer, BatchAct.TURN_BACK, HELD), repairer, alone=True)
    running.run()
    assert (alone.alone, states(alone)) == (True, {"done": 1})
    assert Act.objects.get(kind="turn_back").why == f"the CRM is back ({alone.name}, alone)"


def test_a_batch_that_sends_grows_beyond_what_people_read(
    held: Make, repairer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    held(2)
    monkeypatch.setattr(choosing, "MOST_SENT", 1)
    with pytest.raises(Invalid, match="More than 1 cases are like that, and no more fit into a batch that sends"):
        of_cause(repairer, BatchAct.TURN_BACK, HELD)
    assert of_cause(repairer, BatchAct.LOOK_AGAIN, HELD).count == 2
    monkeypatch.undo()
    monkeypatch.setattr(sending, "REQUESTS", 1)
    assert figures(of_cause(repairer, BatchAct.TURN_BACK, HELD)) == {"more than a line shows": 2}
    monkeypatch.undo()
    monkeypatch.setattr(sending, "LARGE", 2)
    with CaptureQueriesContext(connection) as seen:
        assert figures(of_cause(repairer, BatchAct.TURN_BACK, HELD)) == {"more than a line shows": 2}
    assert not any('"arguments"' in query["sql"] for query in seen), "long runs are read for a list"


def test_what_was_shown_long_ago_is_sent(
    held: Make, repairer: User, second: User, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    held(1)
    batch, before = of_cause(repairer, BatchAct.TURN_BACK, HELD), len(world.sends)
    confirmed(batch, repairer, second)
    monkeypatch.setattr(preview, "LASTS", dt.timedelta(0))
    running.run()
    drain_once()
    assert batch.items.get().said == "What it sends was shown too long ago; choose it anew."
    assert (Act.objects.count(), len(world.sends)) == (0, before)


def test_of_two_effects_that_could_be_meant_a_batch_chooses_one(
    world: World, tool: Make, workflow: Make, run_through: Make, repairer: User
) -> None:
    for name in ("crm.contact", "audience.add", "mail.send"):
        tool(name)
    world.script("mail.send", "execute", "refused")
    world.script("crm.contact", "compensate", "refused")
    world.script("audience.add", "compensate", "refused")
    flow = workflow("crm.contact", "audience.add", "mail.send", after={"add": [], "send": ["contact", "add"]})
    run = run_through(flow)
    assert Effect.objects.filter(run=run, state="stuck").count() == 2
    batch = choosing.freeze(desk_for(repairer), BatchAct.TRY_AGAIN, Case.objects.all(), "one")
    assert figures(batch) == {"several at once": 1}


def test_a_refusal_of_the_engine_leaves_a_claim_or_is_told_nowhere(
    held: Make, repairer: User, second: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    (case,) = held(1)
    batch = of_cause(repairer, BatchAct.TURN_BACK, HELD)
    confirmed(batch, repairer, second)

    def refuses(*_: Any, **__: Any) -> None:
        raise Invalid("the run can't turn back now")

    monkeypatch.setattr(people, "compensate_run", refuses)
    running.run()
    assert (states(batch), said(batch, case)) == ({"refused": 1}, "the run can't turn back now")
    assert [(act.kind, act.outcome) for act in Act.objects.all()] == [("turn_back", "refused")]
    assert Case.objects.get(id=case.id).claimed_by is None


def test_a_case_that_is_acted_on_is_nobodys_to_follow(held: Make, repairer: User, second: User) -> None:
    (case,) = held(1)
    confirmed(of_cause(repairer, BatchAct.TURN_BACK, HELD), repairer, second)
    running.run()
    assert Case.objects.filter(id=case.id, claimed_by=repairer, fence=case.fence + 1).exists()


def test_more_cases_take_more_statements(held: Make, repairer: User) -> None:
    numbers = []
    for _ in range(2):
        held(2)
        with CaptureQueriesContext(connection) as seen:
            batch = of_cause(repairer, BatchAct.TURN_BACK, HELD)
            assert all(line.prospect.will for line in standing.lines(batch, batch.items.all(), rows.now()))
        numbers.append(len(seen))
    assert numbers[0] == numbers[1]


def test_what_is_frozen_of_what_was_shown_can_be_changed(held: Make, repairer: User) -> None:
    (case,) = held(1)
    batch = of_cause(repairer, BatchAct.TURN_BACK, HELD)
    effect = Effect.objects.filter(run=case.run).first()
    for change in ({"preview": "0" * 64}, {"effect": effect}):
        with pytest.raises(DatabaseError), transaction.atomic():
            batch.items.update(**change)
    assert batch.items.get().preview == preview.of_act(
        ActKind.TURN_BACK, preview.facts_of(case.run_id), None, batch.made_at
    ).digest  # fmt: skip

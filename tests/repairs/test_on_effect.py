"""What a person may ask of the engine for one effect, and what it refuses because it could do something twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from repairs.acts import on_effect
from repairs.models import Act, Case
from repairs.models.act import ActKind
from tests.engine.conftest import again, states
from tests.engine.simulated import World
from tests.repairs.previews import shown
from workflows.drain import drain_once
from workflows.errors import Invalid, StaleFence
from workflows.models import Effect, Entry, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


@pytest.fixture
def ask(repairer: User) -> Callable[..., Run]:
    """Does the act on the stuck effect of the case, drains, and gives back the run as it is then."""

    def do(kind: ActKind, case: Case, **more: Any) -> Run:
        effect = Effect.objects.get(run=case.run_id, state="stuck")
        case = Case.objects.get(id=case.id)
        said = {
            "effect_id": effect.id,
            "by": repairer,
            "why": "I asked the desk",
            "fence": case.fence,
            "seq": effect.seq,
            "note": shown(kind, case, effect.id, repairer),
        }
        on_effect.ask(kind, case.id, **{**said, **more})
        drain_once()
        return again(Run.objects.get(id=case.run_id))

    return do


@pytest.fixture
def lost(world: World, tool: Make, workflow: Make, run_through: Make) -> Callable[..., Case]:
    """A run of two steps whose first act is unknown and can't be looked at; it goes on once that is settled."""

    def make(**options: Any) -> Case:
        tool("crm.contact", **{"verify": False, "keyed": False, **options})
        tool("mail.send")
        world.script("crm.contact", "execute", "lost_after")
        return Case.objects.get(run=run_through(workflow("crm.contact", "mail.send")))

    return make


def test_an_undoing_that_was_refused_cannot_be_sent_again_once_the_cause_is_put_right(stuck: Make, ask: Make) -> None:
    case = stuck("refused")
    run = ask(ActKind.TRY_AGAIN, case)
    assert (run.state, run.phase) == ("compensated", "over")
    effect = Effect.objects.get(run=run, kind="compensation")
    assert [e.event for e in Entry.objects.filter(subject_id=effect.id).order_by("seq")][-4:] == [
        "try_again", "dispatch", "acknowledge", "verify",
    ]  # fmt: skip
    assert Case.objects.get(id=case.id).state == "resolved"
    assert [a.kind for a in Act.objects.filter(case=case)] == ["claim", "try_again"]


def test_what_may_have_happened_is_sent_again_without_a_key(lost: Make, ask: Make, world: World) -> None:
    case = lost()
    with pytest.raises(Invalid, match="no key protects a second send"):
        ask(ActKind.TRY_AGAIN, case)
    assert len(world.made) == 1
    assert Act.objects.get(kind="try_again").outcome == "refused"


def test_what_was_acknowledged_is_sent_again(
    world: World, tool: Make, workflow: Make, run_through: Make, ask: Make
) -> None:
    tool("crm.contact")
    world.script("crm.contact", "execute", "lies")
    case = Case.objects.get(run=run_through(workflow("crm.contact")))
    with pytest.raises(Invalid, match="never sent again"):
        ask(ActKind.TRY_AGAIN, case)
    assert len(world.sends) == 1


def test_a_finding_is_lost_or_the_run_goes_on_without_it(lost: Make, ask: Make) -> None:
    case = lost()
    run = ask(ActKind.FOUND, case, result={"id": " 6001 "})
    assert (run.state, run.residue) == ("repaired", [])
    effect = Effect.objects.get(run=run, step__name="contact")
    assert (effect.state, effect.world, effect.external_ref, effect.reason) == (
        "verified", "present", "6001", "found_by_person",
    )  # fmt: skip


def test_a_finding_that_nothing_is_there_leaves_the_step_open(lost: Make, ask: Make) -> None:
    case = lost()
    run = ask(ActKind.ABSENT, case)
    assert run.phase == "over"
    assert states(run)["contact forward"] == "cancelled nothing"
    assert "send forward" not in states(run)


def test_a_step_cannot_be_passed_over_or_one_that_may_stand_outside_can(
    lost: Make, ask: Make, world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    with pytest.raises(Invalid, match="left nothing outside"):
        ask(ActKind.SKIP, lost())
    tool("crm.later", by="natural_key")
    world.script("crm.later", "look", "differs")
    case = Case.objects.get(run=run_through(workflow("crm.later", "mail.send")))
    run = ask(ActKind.SKIP, case)
    assert (run.state, states(run)) == (
        "repaired", {"later forward": "cancelled nothing", "send forward": "verified present"},
    )  # fmt: skip


def test_an_act_on_what_moved_since_the_page_was_made_is_done(stuck: Make, ask: Make) -> None:
    case = stuck("refused")
    with pytest.raises(StaleFence, match="moved since"):
        ask(ActKind.TRY_AGAIN, case, seq=1)
    assert not Act.objects.filter(kind="try_again").exists()


@pytest.mark.parametrize("text", ["x" * 501, "a\u202eb"])
def test_a_name_that_no_provider_gives_is_recorded(lost: Make, ask: Make, text: str) -> None:
    with pytest.raises(Invalid, match="provider"):
        ask(ActKind.FOUND, lost(), result={"id": text})
    assert Effect.objects.get(state="stuck").world == "unknown"


@pytest.mark.parametrize("name", ["nul\x00", "amount", "x" * 300])
def test_a_finding_fills_in_what_the_tool_never_tells(lost: Make, ask: Make, name: str) -> None:
    with pytest.raises(Invalid, match="never tells"):
        ask(ActKind.FOUND, lost(), result={"id": "6001", name: "9"})
    assert Effect.objects.get(state="stuck").world == "unknown"

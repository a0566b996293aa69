"""Who leaves something as it is, or decides about a run, is shown what the run does then; and that is what it does."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from repairs import preview
from repairs.acts import claim, on_run, write_off
from repairs.following import following
from repairs.models import Act, Case
from repairs.models.act import ActKind
from tests.engine.conftest import again, states
from tests.engine.simulated import SimTool, World
from tests.engine.test_resume import undoing_waits
from tests.repairs.previews import off, shown
from workflows import rows
from workflows.drain import drain_once
from workflows.errors import Denied, Invalid, StaleFence
from workflows.models import Effect, Run
from workflows.tools.draft import Draft

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
__all__ = ["undoing_waits"]


@pytest.fixture
def approver(person: Make) -> User:
    user: User = person("approver", "approver")
    return user


@pytest.fixture
def lost(world: World, tool: Make, workflow: Make, run_through: Make) -> Case:
    """The second of three steps is unknown and can't be looked at; the run goes forward beside it."""
    for name in ("crm.contact", "mail.send"):
        tool(name)
    tool("crm.lost", verify=False, keyed=False)
    world.script("crm.lost", "execute", "lost_after")
    return Case.objects.get(run=run_through(workflow("crm.contact", "crm.lost", "mail.send")))


@pytest.fixture
def held(world: World, tool: Make, workflow: Make, run_through: Make) -> Case:
    names = ("hr.contact", "hr.add", "hr.send", "hr.last")
    for name in names:
        tool(name)
    world.script("hr.add", "execute", "refused")
    flow = workflow(*names, on_failure="hold")
    return Case.objects.get(run=run_through(flow))


def stuck_in(case: Case) -> Effect:
    return Effect.objects.get(run=case.run_id, state="stuck")


def made(kind: ActKind, case: Case, item: Effect | None = None) -> preview.Preview:
    return preview.of_act(kind, preview.facts_of(case.run_id), item.id if item else None, rows.now())


def keys(of: preview.Preview) -> list[str]:
    return [planned.effect.key for planned in of.sends]


def sent(world: World, since: int) -> list[str]:
    return [key for _, _, key in world.sends[since:]]


def test_a_write_off_turns_its_run_back_by_other_requests_than_both_people_were_shown(
    lost: Case, world: World, repairer: User, approver: User
) -> None:
    item, before = stuck_in(lost), len(world.sends)
    said = made(ActKind.WRITE_OFF, lost, item)
    assert ([p.effect.step.name for p in said.sends], said.never) == (["contact"], [("send", False)])
    told: dict[str, Any] = {"effect_id": item.id, "why": "they keep it", "fence": 0, "seq": item.seq}
    for note in ("", off(lost, item.id, approver), shown(ActKind.SKIP, lost, item.id, repairer)):
        with pytest.raises(Invalid, match="shown what"):
            write_off.propose(lost.id, by=repairer, note=note, **told)
    note = off(lost, item.id, repairer)
    write_off.propose(lost.id, by=repairer, note=note, **told)
    proposal = Act.objects.get(kind="propose_write_off")
    with pytest.raises(Invalid, match="shown what"):
        write_off.confirm(proposal.id, by=approver, why="yes", note=note)
    write_off.confirm(proposal.id, by=approver, why="yes", note=said.note(lost.id, approver))
    drain_once(slots=8)
    assert sent(world, before) == keys(said)
    assert again(lost.run).state == "written_off"


def test_a_write_off_is_confirmed_or_done_alone_on_what_was_shown_before_it_changed(
    lost: Case, world: World, repairer: User, approver: User, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.FOUR_EYES = "when_possible"
    item = stuck_in(lost)
    told: dict[str, Any] = {"effect_id": item.id, "why": "they keep it", "fence": 0, "seq": item.seq}
    mine, theirs = off(lost, item.id, repairer), off(lost, item.id, approver)
    write_off.propose(lost.id, by=repairer, note=mine, **told)
    proposal = Act.objects.get(kind="propose_write_off")
    monkeypatch.setattr(SimTool, "draft", lambda self, call: [Draft(line="DELETE https://elsewhere.example/")])
    with pytest.raises(StaleFence, match="would be sent has changed"):
        write_off.confirm(proposal.id, by=approver, why="yes", note=theirs)
    with pytest.raises(StaleFence, match="would be sent has changed"):
        write_off.alone(lost.id, by=repairer, note=mine, **{**told, "fence": 1})
    assert stuck_in(lost) == item


def test_an_undoing_that_is_left_frees_another_one_that_nobody_was_shown(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    for name in ("crm.contact", "audience.add", "mail.send"):
        tool(name)
    world.script("mail.send", "execute", "refused")
    world.script("audience.add", "compensate", "refused")
    case = Case.objects.get(run=run_through(workflow("crm.contact", "audience.add", "mail.send")))
    said = made(ActKind.WRITE_OFF, case, stuck_in(case))
    assert [p.effect.step.name for p in said.sends] == ["contact"]


def test_a_run_that_is_left_says_of_what_waits_that_it_goes_on(undoing_waits: Any) -> None:
    run, _ = undoing_waits
    said = made(ActKind.WRITE_OFF, Case.objects.get(run=run))
    assert (said.sends, said.goes_on, said.never) == ([], [], [("contact", True)])
    assert following(Effect.objects.get(run=run, step__name="book")) == [("contact", True)]
    assert following(Effect.objects.get(run=run, kind="compensation")) == []


def test_who_may_confirm_is_not_shown_what_follows_or_only_while_nobody_holds_the_case(
    lost: Case, repairer: User, approver: User, browse: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    item, desk, other = stuck_in(lost), browse(repairer), browse(approver)
    form = desk.get(f"/repairs/{lost.number}/").content.decode().split('/write-off"')[1].split("</form>")[0]
    assert "Then the run goes on by itself and sends exactly this" in form
    assert "Never sent any more: <bdi>send</bdi>" in form
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form))
    asked = desk.post(f"/repairs/{lost.number}/write-off", {**fields, "why": "it may stay", "how": "propose"})
    assert asked.status_code == 302
    claim.claim(lost.id, by=repairer)
    monkeypatch.setattr("repairs.preview_shown.LARGE", 1)
    address = f"/repairs/{lost.number}/preview/write_off/{item.id}"
    assert f'href="{address}"' in other.get(f"/repairs/{lost.number}/").content.decode()
    alone = other.get(address).content.decode()
    monkeypatch.undo()
    for page in (other.get(f"/repairs/{lost.number}/").content.decode(), alone):
        assert "undoing of <bdi>contact</bdi>" in page
        (note,) = re.findall('name="preview" value="([^"]+)"', page)
    proposal = Act.objects.get(kind="propose_write_off")
    yes = other.post(f"/repairs/proposals/{proposal.id}/confirm", {"why": "agreed", "preview": note})
    assert (yes.status_code, Effect.objects.get(id=item.id).state) == (302, "written_off")
    assert other.get(address).status_code == 403


def test_the_whole_run_is_stopped_cancelled_or_let_on_by_other_requests_than_were_shown(
    lost: Case, held: Case, world: World, repairer: User
) -> None:
    def ask(kind: ActKind, case: Case) -> list[str]:
        said, before = made(kind, case), len(world.sends)
        note = said.note(case.id, repairer)
        fence = Case.objects.get(id=case.id).fence
        on_run.ask(kind, case.id, by=repairer, why="the order was withdrawn", fence=fence, note=note)
        drain_once(slots=8)
        assert sent(world, before)[: len(said.sends)] == keys(said)
        return [p.effect.step.name for p in said.sends]

    assert made(ActKind.CANCEL, lost).never == [("send", False)]
    assert ask(ActKind.HOLD, lost) == []
    assert (again(lost.run).ending, states(lost.run)["contact forward"]) == ("hold", "verified present")
    said = made(ActKind.RESUME, held)
    assert ([p.effect.step.name for p in said.sends], said.goes_on, said.never) == (
        ["add"], [("send", False), ("last", False)], (),
    )  # fmt: skip
    assert "contact" in [e.step.name for e in said.stays]
    assert ask(ActKind.RESUME, held) == ["add"]
    assert again(held.run).state == "repaired"
    assert Case.objects.get(id=held.id).state == "resolved"
    assert [(a.kind, a.outcome) for a in Act.objects.exclude(kind="claim")] == [("hold", "asked"), ("resume", "asked")]


def test_a_run_is_cancelled_by_who_may_not_or_was_shown_something_else(
    lost: Case, world: World, repairer: User, approver: User
) -> None:
    told: dict[str, Any] = {"why": "x", "fence": lost.fence}
    for by, note, trouble in (
        (approver, shown(ActKind.CANCEL, lost, None, approver), Denied),
        (repairer, shown(ActKind.HOLD, lost, None, repairer), Invalid),
        (repairer, "", Invalid),
    ):
        with pytest.raises(trouble):
            on_run.ask(ActKind.CANCEL, lost.id, by=by, note=note, **told)
    note = shown(ActKind.CANCEL, lost, None, repairer)
    Run.objects.filter(id=lost.run_id).update(phase="unwinding", ending="hold", end_cause="cancel")
    with pytest.raises(StaleFence, match="would be sent has changed"):
        on_run.ask(ActKind.CANCEL, lost.id, by=repairer, note=note, **told)
    assert not Act.objects.exists()


def test_the_case_page_offers_what_the_run_cannot_do_or_hides_what_it_can(
    lost: Case, held: Case, repairer: User, browse: Make
) -> None:
    desk = browse(repairer)

    def offered(case: Case) -> list[str]:
        page = desk.get(f"/repairs/{case.number}/").content.decode()
        return re.findall(rf'action="/repairs/{case.number}/(cancel|hold|resume)"', page)

    assert (offered(lost), offered(held)) == (["cancel", "hold"], ["resume"])
    for case, kind in ((lost, "cancel"), (held, "resume")):
        whole = desk.get(f"/repairs/{case.number}/preview/{kind}/")
        assert (whole.status_code, 'name="preview"' in whole.content.decode()) == (200, True)
    (note,) = re.findall('name="preview" value="([^"]+)"', whole.content.decode())
    answer = desk.post(f"/repairs/{held.number}/resume", {"why": "unlocked", "fence": 0, "preview": note})
    assert (answer.status_code, Act.objects.get(kind="resume").by) == (302, repairer)
    assert desk.get(f"/repairs/{lost.number}/preview/resume/").status_code == 404

"""Before an act people are shown exactly what it sends; an act on anything else is refused."""

from __future__ import annotations

import ast
import datetime as dt
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

import repairs.acts
from repairs import preview
from repairs.acts import look_again, on_effect, on_run, turn_back
from repairs.models import Act, Case
from repairs.models.act import ActKind
from tests.engine.conftest import again
from tests.engine.simulated import SimTool, World
from tests.engine.test_undone_again import effect, later, undone
from tests.repairs.previews import shown
from workflows import making, rows
from workflows.drain import drain_once
from workflows.errors import Invalid, StaleFence
from workflows.models import Effect, Run, Step
from workflows.tools.draft import Draft

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
__all__ = ["undone"]

CALLS = ("workflows.engine", "workflows.authority.versions")  # verbs after which something may leave
# Modules of acts that call a verb of the engine and send nothing by it, each with why.
SENDS_NOTHING = {
    "open_case": "opens a case by a person's word, for a run that goes on or is over; nothing is sent or undone",
    "reopen": "opens a case by a person's word, or closes it; nothing is sent or undone",
}


def made(kind: ActKind, case: Case, item: Effect | None) -> preview.Preview:
    return preview.of_act(kind, preview.facts_of(case.run_id), item.id if item else None, rows.now())


def keys(of: preview.Preview) -> list[str]:
    return [planned.effect.key for planned in of.sends]


def test_an_act_can_ask_the_engine_without_a_preview() -> None:
    for path in Path(repairs.acts.__path__[0]).glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {
            f"{node.module}.{alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        if any(name.startswith(CALLS) for name in names) and path.stem not in SENDS_NOTHING:
            assert "repairs.preview" in names, f"{path.name} calls the engine; show what it sends, or say why not"


def test_there_is_an_act_on_an_effect_without_a_preview() -> None:
    others = {ActKind.TURN_BACK, ActKind.LOOK_AGAIN, ActKind.WRITE_OFF, ActKind.CALL_OFF}
    assert set(on_effect.VERBS) | set(on_run.VERBS) | others == preview.SHOWN


def test_an_act_of_somebody_who_was_not_shown_it_is_done(
    stuck: Make, repairer: User, person: Make, world: World
) -> None:
    case, item = stuck(), Effect.objects.get(state="stuck")
    before, other = list(world.sends), person("other", "repairer")
    facts: dict[str, Any] = {"effect_id": item.id, "by": repairer, "why": "x", "fence": case.fence, "seq": item.seq}
    for kind in on_effect.VERBS:
        another = next(one for one in on_effect.VERBS if one is not kind)
        for note in ("", "forged", shown(kind, case, item.id, other), shown(another, case, item.id, repairer)):
            with pytest.raises(Invalid, match="shown what"):
                on_effect.ask(kind, case.id, note=note, **facts)
    drain_once()
    assert (world.sends, Act.objects.count(), Effect.objects.get(id=item.id).seq) == (before, 0, item.seq)


def test_what_was_shown_before_the_request_changed_is_sent(
    stuck: Make, repairer: User, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, item = stuck(), Effect.objects.get(state="stuck")
    facts: dict[str, Any] = {"effect_id": item.id, "by": repairer, "why": "x", "fence": case.fence}
    note = shown(ActKind.TRY_AGAIN, case, item.id, repairer)
    look = shown(ActKind.LOOK_AGAIN, case, item.id, repairer)
    monkeypatch.setattr(SimTool, "draft", lambda self, call: [Draft(line="POST https://elsewhere.example/")])
    monkeypatch.setattr(SimTool, "draft_look", lambda self, call: [Draft(line="GET https://elsewhere.example/")])
    before = list(world.sends)
    with pytest.raises(StaleFence, match="would be sent has changed"):
        on_effect.ask(ActKind.TRY_AGAIN, case.id, seq=item.seq, note=note, **facts)
    with pytest.raises(StaleFence, match="would be sent has changed"):
        look_again.look_again(case.id, note=look, **facts)
    drain_once()
    assert (world.sends, Act.objects.count()) == (before, 0)


def test_another_request_is_sent_than_was_shown(stuck: Make, repairer: User, world: World) -> None:
    case, item = stuck(), Effect.objects.get(state="stuck")
    said = made(ActKind.TRY_AGAIN, case, item)
    assert [e.step.name for e in said.stays] == ["contact", "send"]
    note, before = said.note(case.id, repairer), len(world.sends)
    on_effect.ask(ActKind.TRY_AGAIN, case.id, effect_id=item.id, by=repairer, why="x", fence=0, seq=item.seq, note=note)
    drain_once()
    assert [key for _, _, key in world.sends[before:]] == keys(said) == [item.key]


def test_turning_back_sends_another_request_than_was_shown(
    world: World, tool: Make, workflow: Make, run_through: Make, repairer: User
) -> None:
    for name in ("crm.contact", "audience.add", "mail.send"):
        tool(name)
    world.script("mail.send", "execute", "refused")
    run = run_through(workflow("crm.contact", "audience.add", "mail.send", on_failure="hold"))
    case = Case.objects.get(run=run)
    said = made(ActKind.TURN_BACK, case, None)
    assert [planned.effect.step.name for planned in said.sends] == ["add", "contact"]
    before = len(world.sends)
    with pytest.raises(Invalid, match="shown"):
        turn_back.turn_back(case.id, by=repairer, why="x", fence=case.fence, note="")
    turn_back.turn_back(case.id, by=repairer, why="x", fence=case.fence, note=said.note(case.id, repairer))
    drain_once()
    assert [key for _, _, key in world.sends[before:]] == keys(said)
    assert again(run).state == "repaired"


def test_undoing_once_more_sends_another_request_than_was_shown(world: World, undone: Run, repairer: User) -> None:
    forward, first = effect(undone, "forward"), effect(undone, "compensation")
    world.things[forward.key] = {}
    later(undone)
    case = Case.objects.get(run=undone)
    item = Effect.objects.get(run=undone, kind="forward", state="stuck")
    said, before = made(ActKind.UNDO_AGAIN, case, item), len(world.sends)
    assert first.key in {e.key for e in said.stays}
    note = said.note(case.id, repairer)
    on_effect.ask(
        ActKind.UNDO_AGAIN, case.id, effect_id=item.id, by=repairer, why="x", fence=0, seq=item.seq, note=note
    )
    drain_once()
    assert [key for _, _, key in world.sends[before:]] == keys(said)
    assert keys(said) not in ([], [first.key])


def test_a_tool_that_is_gone_or_an_undoing_that_is_over_breaks_the_page(
    stuck: Make, undone: Run, repairer: User, browse: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = preview.facts_of(undone.id)
    assert preview.of_act(ActKind.UNDO_AGAIN, facts, effect(undone, "forward").id, rows.now()).sends == []
    case = stuck()

    def breaks(*_: Any) -> Any:
        raise ValueError("our\u202ebug")

    monkeypatch.setattr(SimTool, "draft", breaks)
    page = browse(repairer).get(f"/repairs/{case.number}/")
    assert page.status_code == 200
    assert "its tool can&#x27;t say it: ValueError: our bug" in page.content.decode()


def test_a_finding_or_a_step_passed_over_sends_something_that_was_not_shown(
    world: World, tool: Make, workflow: Make, run_through: Make, repairer: User
) -> None:
    """In a run that goes on, steps that are due later are named; in one that turns back, each undoing is shown."""
    for name in ("crm.contact", "audience.add", "mail.send"):
        tool(name)
    tool("crm.lost", verify=False, keyed=False)
    world.script("crm.lost", "execute", "lost_after")
    run = run_through(workflow("crm.contact", "crm.lost", "mail.send"))
    case, item = Case.objects.get(run=run), Effect.objects.get(state="stuck")
    found = made(ActKind.FOUND, case, item)
    assert (keys(found), found.goes_on) == ([], [("send", False)])
    absent = made(ActKind.ABSENT, case, item)
    assert ([p.effect.step.name for p in absent.sends], absent.goes_on, absent.never) == (
        ["contact"], [], [("send", False)],
    )  # fmt: skip
    before, note = len(world.sends), absent.note(case.id, repairer)
    on_effect.ask(ActKind.ABSENT, case.id, effect_id=item.id, by=repairer, why="x", fence=0, seq=item.seq, note=note)
    drain_once()
    assert [key for _, _, key in world.sends[before:]] == keys(absent)
    assert Run.objects.get(id=run.id).phase == "over"


def test_the_case_page_asks_for_an_act_without_its_preview(stuck: Make, repairer: User, browse: Make) -> None:
    case = stuck()
    page = browse(repairer).get(f"/repairs/{case.number}/").content.decode()
    forms = re.findall(r'<form method="post" action="/repairs/\d+/([a-z-]+)"(.*?)</form>', page, re.DOTALL)
    asks = {name for name, _ in forms} & {kind.value.replace("_", "-") for kind in preview.SHOWN}
    assert (
        {name for name, form in forms if 'name="preview"' in form}
        == asks
        == {"look-again", "try-again", "found", "write-off"}
    )


def test_a_page_makes_more_requests_than_it_shows_or_hides_an_act_for_that(
    world: World, tool: Make, workflow: Make, run_through: Make, repairer: User, browse: Make,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("repairs.preview_shown.LARGE", 2)
    for name in ("crm.contact", "audience.add", "mail.send"):
        tool(name)
    world.script("mail.send", "execute", "refused")
    case = Case.objects.get(run=run_through(workflow("crm.contact", "audience.add", "mail.send", on_failure="hold")))
    client = browse(repairer)
    page = client.get(f"/repairs/{case.number}/").content.decode()
    address = f"/repairs/{case.number}/preview/turn_back/"
    assert (f'href="{address}"' in page, 'name="preview"' in page) == (True, False)
    whole = client.get(address).content.decode()
    assert len(re.findall("undoing of <bdi>", whole)) == 2
    (note,) = re.findall('name="preview" value="([^"]+)"', whole)
    answer = client.post(f"/repairs/{case.number}/turn-back", {"why": "x", "fence": case.fence, "preview": note})
    assert (answer.status_code, Act.objects.get(kind="turn_back").outcome) == (302, "asked")


def test_the_whole_preview_cannot_be_opened_and_asked_from(stuck: Make, repairer: User, browse: Make) -> None:
    case, item = stuck(), Effect.objects.get(state="stuck")
    client = browse(repairer)
    for kind in ("look_again", "try_again", "found"):
        page = client.get(f"/repairs/{case.number}/preview/{kind}/{item.id}")
        assert (page.status_code, item.key in page.content.decode()) == (200, True), kind
    form = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page.content.decode()))
    answer = client.post(f"/repairs/{case.number}/found", {**form, "why": "seen"})
    assert answer.status_code == 302
    assert Act.objects.get(kind="found").why == "seen"
    assert client.get(f"/repairs/{case.number}/preview/undo_rest/{item.id}").status_code == 404


def test_d07_a_desk_that_is_named_to_turn_its_reader_s_eye_does_so_where_an_act_is_asked_for(
    stuck: Make, repairer: User, browse: Make
) -> None:
    case, client = stuck(owner="desk\u202e<b>"), browse(repairer)
    stuck_one = Effect.objects.get(run=case.run_id, kind="compensation")
    for place in ("", f"preview/look_again/{stuck_one.id}"):
        page = client.get(f"/repairs/{case.number}/{place}").content.decode()
        assert ("\u202e" in page, "[U+202E]" in page) == (False, True), place


def test_what_was_typed_is_lost_where_the_request_changed(
    stuck: Make, repairer: User, browse: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, item = stuck(), Effect.objects.get(state="stuck")
    form = {"effect": item.id, "seq": item.seq, "fence": case.fence, "why": "I rang the desk"}
    form["preview"] = shown(ActKind.TRY_AGAIN, case, item.id, repairer)
    monkeypatch.setattr(SimTool, "draft", lambda self, call: [Draft(line="POST https://elsewhere.example/")])
    answer = browse(repairer).post(f"/repairs/{case.number}/try-again", form)
    page = answer.content.decode()
    assert (answer.status_code, "would be sent has changed" in page, "I rang the desk</textarea>" in page) == (
        409, True, True,
    )  # fmt: skip
    assert "https://elsewhere.example/" in page


def test_what_was_shown_of_another_case_or_yesterday_is_acted_on(
    world: World, tool: Make, workflow: Make, run_through: Make, repairer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool("crm.contact")
    tool("mail.send")
    flow = workflow("crm.contact", "mail.send", on_failure="hold")
    cases = []
    for _ in range(2):
        world.script("mail.send", "execute", "refused")
        cases.append(Case.objects.get(run=run_through(flow)))
    notes = [shown(ActKind.TURN_BACK, case, None, repairer) for case in cases]
    with pytest.raises(Invalid, match="another act"):
        turn_back.turn_back(cases[0].id, by=repairer, why="x", fence=cases[0].fence, note=notes[1])
    monkeypatch.setattr(preview, "LASTS", dt.timedelta(seconds=-1))
    with pytest.raises(Invalid, match="open the page anew"):
        turn_back.turn_back(cases[0].id, by=repairer, why="x", fence=cases[0].fence, note=notes[0])
    assert not Act.objects.exists()


def test_steps_that_came_since_or_a_request_that_tells_the_time_are_not_shown(
    world: World, tool: Make, workflow: Make, run_through: Make, repairer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool("crm.lost", verify=False, keyed=False)
    tool("mail.send")
    world.script("crm.lost", "execute", "lost_after")
    run = run_through(workflow("crm.lost", "mail.send"))
    case, item = Case.objects.get(run=run), Effect.objects.get(state="stuck")
    note = shown(ActKind.FOUND, case, item.id, repairer)
    Step.objects.filter(run=run, name="send").update(name="sends")
    with pytest.raises(StaleFence, match="would be sent has changed"):
        on_effect.ask(ActKind.FOUND, case.id, effect_id=item.id, by=repairer, why="x", fence=0, seq=item.seq, note=note)
    assert not made(ActKind.TRY_AGAIN, case, item).sends[0].timed
    Effect.objects.filter(id=item.id).update(attempts=3)
    monkeypatch.setattr(SimTool, "draft", lambda self, call: [Draft(line=f"at {call.now}, try {call.attempt}")])
    (said,) = made(ActKind.TRY_AGAIN, case, item).sends
    assert (said.timed, said.drafts[0].line.partition(", ")[2]) == (True, "try 1")


def test_an_undoing_that_lacks_what_its_act_told_is_shown_as_one_that_can_be_sent(
    world: World, tool: Make, workflow: Make, run_through: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool("crm.contact")
    tool("mail.send")
    world.script("mail.send", "execute", "refused")
    case = Case.objects.get(run=run_through(workflow("crm.contact", "mail.send", on_failure="hold")))
    monkeypatch.setattr(making, "lacks_result", lambda of, step: True)
    (said,) = made(ActKind.TURN_BACK, case, None).sends
    assert "no answer was ever seen" in said.drafts[0].flaw


def test_a_page_previews_act_after_act_however_many_requests_that_takes(
    stuck: Make, repairer: User, browse: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("repairs.preview_shown.REQUESTS_IN_PLACE", 0)
    case = stuck()
    page = browse(repairer).get(f"/repairs/{case.number}/").content.decode()
    assert page.count('name="preview"') == 1
    assert f'href="/repairs/{case.number}/preview/' in page

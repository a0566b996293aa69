"""What a person does about a case shows at once in all views; and nothing but what they decided is done."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group, User

from repairs.acts import look_again, write_off
from repairs.acts.turn_back import turn_back
from repairs.models import Act, Case
from repairs.models.act import ActKind
from tests.blackbox import manifests
from tests.blackbox.conftest import Story
from tests.repairs.previews import off, shown
from workflows.models import Effect


def person(name: str) -> User:
    user = User.objects.create_user(name, is_staff=True)
    user.groups.set(Group.objects.filter(name__in=["repairer", "approver"]))
    return user


def case_of(run: str) -> dict[str, Any]:
    case = Case.objects.get(run_id=run)
    return {"case_id": case.id, "fence": case.fence}


def stuck_in(run: str) -> Effect:
    return Effect.objects.get(run_id=run, state="stuck")


def test_what_a_person_mended_outside_is_seen_by_looking_again_and_the_case_closes(story: Story) -> None:
    story.apply(manifests.three_steps())
    story.world.script(method="POST", path="/bookings", answer="422")
    story.world.script(method="DELETE", path="/members", undo="lies", times=None)
    run = story.agent.start()
    assert story.truth(run).state == "stuck"
    (member,) = story.world.objects("members")
    story.world.book.write(member, None)
    look_again.look_again(
        **case_of(run), effect_id=stuck_in(run).id, by=person("repairer"), why="I removed it by hand."
    )
    truth = story.truth(run)
    assert (truth.state, truth.standing.total()) == ("compensated", 0)
    assert [case["state"] for case in truth.cases] == ["resolved"]
    assert len(story.world.wire("DELETE", "/members")) == 1


def test_looking_again_at_what_did_not_change_opens_the_same_case_again(story: Story) -> None:
    story.apply(manifests.one_step())
    story.world.script(method="POST", book="never")
    run = story.agent.start()
    before = story.truth(run)
    look_again.look_again(**case_of(run), effect_id=stuck_in(run).id, by=person("repairer"), why="It may be there now.")
    story.world.script(method="POST", answer="422", times=None)
    truth = story.truth(run)
    assert [case["id"] for case in truth.cases] == [case["id"] for case in before.cases], "a run has one case"
    assert truth.made.total() == 0


def test_two_people_write_off_what_stands_and_the_run_states_it(story: Story) -> None:
    refusing = manifests.tool("audience.member", "members", undoing='refused: "status == 422"')
    story.apply(manifests.three_steps(member=refusing))
    story.world.script(method="POST", path="/bookings", answer="422")
    story.world.script(method="DELETE", path="/members", answer="422", times=None)
    run = story.agent.start(email="office@acme.example")
    assert story.truth(run).state == "stuck"
    effect = stuck_in(run)
    repairer, approver, case = person("repairer"), person("approver"), Case.objects.get(run_id=run)
    told: dict[str, Any] = {"effect_id": effect.id, "why": "They keep it.", "seq": effect.seq}
    write_off.propose(**case_of(run), by=repairer, note=off(case, effect.id, repairer), **told)
    assert story.truth(run).cases[0]["state"] == "waiting"
    proposal = Act.objects.get(outcome="proposed")
    write_off.confirm(proposal.id, by=approver, why="Agreed.", note=off(case, effect.id, approver))
    truth = story.truth(run)
    assert (truth.state, truth.run["clean"], truth.standing) == ("written_off", False, {"members": 1})
    assert truth.residue == ["A record for office@acme.example stands in members."]
    assert truth.effects["contact forward"] == "undone gone", "what could be undone was not"
    assert [case["state"] for case in truth.cases] == ["written_off"]


def test_a_run_held_for_an_irreversible_act_turns_back_once_a_person_says_so(story: Story) -> None:
    sent = manifests.tool("audience.member", "members", effect_class="irreversible", compensate=None)
    story.apply(manifests.three_steps(member=sent))
    story.world.script(method="POST", path="/bookings", answer="422")
    run = story.agent.start()
    assert story.truth(run).state == "stuck"
    repairer = person("repairer")
    seen = shown(ActKind.TURN_BACK, Case.objects.get(run_id=run), None, repairer)
    turn_back(**case_of(run), by=repairer, why="The member may stay; the contact must go.", note=seen)
    truth = story.truth(run)
    assert (truth.state, truth.standing, len(truth.residue)) == ("repaired", {"members": 1}, 1)
    assert [case["state"] for case in truth.cases] == ["resolved"]

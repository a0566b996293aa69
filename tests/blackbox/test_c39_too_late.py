"""C39: the undoing isn't possible any more, or not this way: the window, fallbacks in order, and a part of a series."""

from __future__ import annotations

import datetime as dt

from tests.blackbox import manifests
from tests.blackbox.conftest import Story

STARTS = (
    "{type: object, required: [email, start], additionalProperties: false,"
    " properties: {email: {type: string}, start: {type: string, format: date-time}}}"
)
UNTIL_START = 'window_until: "${ args.start }"'


def meeting(start: dt.datetime, undoing: str = UNTIL_START, *others: str) -> str:
    """Book a meeting that starts then; the next step is refused."""
    booking = manifests.tool("calendar.booking", "bookings", arguments=STARTS, undoing=undoing)
    arguments = f'{{email: "${{ input.email }}", start: "{start.isoformat()}"}}'
    steps = [
        manifests.step("booking", "calendar.booking", arguments=arguments),
        manifests.step("contact", "crm.contact"),
    ]
    return manifests.manifest([booking, manifests.CONTACT, *others], [manifests.workflow("onboarding", *steps)])


def now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


def test_what_has_begun_is_not_called_off_but_given_to_a_person(story: Story) -> None:
    starts = now() + dt.timedelta(seconds=1)
    story.apply(meeting(starts))
    story.world.script(method="POST", path="/contacts", answer="422")
    gate = story.world.hold("/contacts")
    run = story.agent.start()
    story.until(lambda: gate.arrived(timeout=0))
    story.until(lambda: now() > starts)
    gate.release()
    truth = story.truth(run)
    assert (truth.state, truth.standing, story.world.wire("DELETE")) == ("stuck", {"bookings": 1}, [])
    assert truth.details["booking compensation"]["reason"] == "window"
    assert "it may be undone is over" in truth.cases[0]["sentence"]


def test_what_has_not_begun_is_called_off(story: Story) -> None:
    story.apply(meeting(now() + dt.timedelta(hours=1)))
    story.world.script(method="POST", path="/contacts", answer="422")
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.standing.total()) == ("compensated", 0)


def test_a_window_that_cannot_be_told_is_taken_for_closed(story: Story) -> None:
    story.apply(meeting(now(), 'window_until: "${ result.nothing }"').replace("result.nothing", "args.email"))
    story.world.script(method="POST", path="/contacts", answer="422")
    truth = story.truth(story.agent.start())
    assert (truth.details["booking compensation"]["reason"], story.world.wire("DELETE")) == ("window", [])


def test_past_its_window_the_declared_fallback_is_tried(story: Story) -> None:
    sorry = manifests.tool("mail.sorry", "mails", compensate=None, effect_class="irreversible")
    story.apply(meeting(now() - dt.timedelta(minutes=1), f"{UNTIL_START}\nfallbacks: [mail.sorry]", sorry))
    story.world.script(method="POST", path="/contacts", answer="422")
    truth = story.truth(story.agent.start())
    assert (len(story.world.wire("POST", "/mails")), story.world.wire("DELETE")) == (1, [])
    assert truth.state == "compensated_with_residue"


def test_fallbacks_are_tried_in_their_order_until_one_is_taken(story: Story) -> None:
    """The message can't be deleted any more; editing it is refused too; a correction is sent."""
    undo = 'acknowledged: "status == 204"\nrefused: "status == 200 && !body.ok"\nfallbacks: [chat.edit, chat.correct]'
    said = manifests.tool("chat.say", "messages", undoing=undo)
    edit = manifests.tool("chat.edit", "edits", compensate=None, effect_class="irreversible")
    correct = manifests.tool("chat.correct", "corrections", compensate=None, effect_class="irreversible")
    steps = [manifests.step("said", "chat.say"), manifests.step("contact", "crm.contact")]
    tools = [said, edit, correct, manifests.CONTACT]
    story.apply(manifests.manifest(tools, [manifests.workflow("onboarding", *steps)]))
    story.world.script(method="POST", path="/contacts", answer="422")
    story.world.script(method="DELETE", path="/messages", answer="error200", times=None)
    story.world.script(method="POST", path="/edits", answer="422")
    truth = story.truth(story.agent.start(email="office@acme.example"))
    order = [f"{w.method} {w.target.split('/')[1].partition('?')[0]}" for w in story.world.wire() if w.method != "GET"]
    assert order == ["POST messages", "POST contacts", "DELETE messages", "POST edits", "POST corrections"]
    assert truth.state == "compensated_with_residue"
    assert truth.residue == ["A record for office@acme.example stands in messages."]


def test_a_part_of_a_series_that_could_be_called_off_is_told_as_a_part(story: Story) -> None:
    part = 'acknowledged: "status == 200"\npartial: "body.kept > 0"'
    undo = """
    compensate:
      method: POST
      url: "${ env.WORLD_URL }/cancellations"
      json: {series: "${ result.id }", reference: "${ key }", kept: 1}
      late: 200ms
      verify: {url: "${ env.WORLD_URL }/cancellations?reference=${ key }",
               found: "size(body.items) == 1", absent: "size(body.items) == 0"}
"""
    series = manifests.tool("calendar.series", "series", compensate=undo, undoing=part.replace("200", "201"))
    steps = [manifests.step("series", "calendar.series"), manifests.step("contact", "crm.contact")]
    story.apply(manifests.manifest([series, manifests.CONTACT], [manifests.workflow("onboarding", *steps)]))
    story.world.script(method="POST", path="/contacts", answer="422")
    run = story.agent.start(email="office@acme.example")
    story.settle()
    told = story.agent.get(f"runs/{run}")
    assert (told["state"], told["clean"]) == ("compensated_with_residue", False)
    assert [row["statement"] for row in told["residue"]] == [
        "A record for office@acme.example stands in series. Only a part of it could be undone."
    ]
    assert {e["world"] for e in told["effects"] if e["step"] == "series" and e["kind"] == "forward"} == {"unknown"}

"""C05: a chat takes no key. Its history since the send, read whole, shows our hidden mark, never merely our words."""

from __future__ import annotations

import pytest

from tests.blackbox import manifests
from tests.blackbox.conftest import Story
from workflows.models import Effect

# The channel's history since the first send. The text is everybody's; the mark (`reference` here) is ours.
HISTORY = """
    verify:
      url: "${ env.WORLD_URL }/messages?channel=ops&since=${ sent.at }"
      several: "body.items.filter(m, m.reference == key).size() > 1"
      found: "body.items.exists(m, m.reference == key)"
      absent: "!body.items.exists(m, m.reference == key)"
      result: {id: "${ body.items.filter(m, m.reference == key)[0].id }"}
      next: "${ has(body.next) ? body.next : null }"
      pages: 4
"""


def chat(**fields: str) -> str:
    return manifests.tool(
        "crm.contact",
        "messages",
        by=manifests.KEYLESS,
        headers="{}",
        json='{channel: ops, text: done, email: "${ args.email }", reference: "${ key }"}',
        verify=fields.pop("verify", HISTORY),
        **fields,
    ).replace("messages:${ args.email.lowerAscii() }", "message:${ key }")


def test_a_message_whose_answer_was_lost_is_found_by_its_mark_and_not_posted_again(story: Story) -> None:
    story.apply(manifests.one_step(chat()))
    story.world.plant("messages", channel="ops", text="done", reference="somebody's")
    story.world.script(method="POST", answer="cut")
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.made["messages"], len(story.world.wire("POST"))) == ("completed", 1, 1)


def test_two_equal_messages_of_two_steps_both_go(story: Story) -> None:
    steps = [manifests.step("first", "crm.contact"), manifests.step("second", "crm.contact", after="[]")]
    story.apply(manifests.manifest([chat()], [manifests.workflow("onboarding", *steps)]))
    story.world.script(method="POST", answer="cut")
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.made["messages"]) == ("completed", 2)
    assert [o.body["text"] for o in story.world.objects() if o.body] == ["done", "done"]


def test_resumed_much_later_it_is_still_one(story: Story) -> None:
    """A memory of two minutes would have forgotten it; the ledger doesn't, and its search begins at the first send."""
    story.apply(manifests.one_step(chat()))
    story.world.script(method="POST", answer="cut")
    story.world.script(method="GET", read="unavailable", times=3)
    run = story.agent.start()
    story.until(lambda: story.world.wire("GET"))
    (effect,) = Effect.objects.filter(run_id=run)
    first = effect.first_sent_at
    truth = story.truth(run)
    assert (truth.state, truth.made["messages"], len(story.world.wire("POST"))) == ("completed", 1, 1)
    assert first is not None
    asked = {w.target for w in story.world.wire("GET")}
    assert len(asked) == 1, "each look began somewhere else"


@pytest.mark.parametrize(("others", "seen"), [(0, True), (5, True), (9, False)], ids=["one page", "three", "too many"])
def test_what_is_not_on_any_page_is_absent_only_if_all_were_read(story: Story, others: int, seen: bool) -> None:
    story.apply(manifests.one_step(chat(asking=manifests.NO_LAG, late="10ms")))
    story.world.script(method="GET", read="paged", times=None)
    story.world.script(method="POST", answer="cut", book="never")
    gate = story.world.hold("/messages")
    run = story.agent.start()
    story.until(lambda: gate.arrived(timeout=0))
    for n in range(others):
        story.world.plant("messages", channel="ops", text="done", reference=f"other {n}")
    gate.release()
    truth = story.truth(run)
    looks = truth.details["contact forward"]["looks"]
    if seen:
        assert (truth.state, truth.outcomes("contact forward")) == ("completed", ["unknown", "acknowledged"])
    else:
        assert truth.effects == {"contact forward": "stuck unknown"}
        assert "page 5 is missing" in looks[-1]["reason"]
        assert len(story.world.wire("POST")) == 1


def test_a_page_that_is_missing_proves_nothing_and_the_list_is_read_anew(story: Story) -> None:
    story.apply(manifests.one_step(chat(asking=manifests.NO_LAG)))
    for n in range(3):
        story.world.plant("messages", channel="ops", text="done", reference=f"other {n}")
    early = HISTORY.replace("&since=${ sent.at }", "")
    story.apply(manifests.one_step(chat(verify=early)).replace("version: 1", "version: 2"))
    story.world.script(method="GET", read="paged", times=None)
    story.world.script(method="GET", containing="page=2", answer="503", times=2)
    story.world.script(method="POST", answer="cut")
    truth = story.truth(story.agent.start())
    verdicts = [look["verdict"] for look in truth.details["contact forward"]["looks"]]
    assert verdicts == ["inconclusive", "inconclusive", "found"]
    assert (truth.state, len(story.world.wire("POST"))) == ("completed", 1)

"""C18: accepted is not done. The provider's own work is asked after until it ends, and its end decides."""

from __future__ import annotations

from tests.blackbox import manifests
from tests.blackbox.conftest import Story
from tests.blackbox.test_killed import worker

PENDING = """
    pending: "status == 202"
    poll: {url: "${ headers['operation-location'] }", every: 20ms, within: 1m, done: "body.state == 'ok'",
    failed: "body.state == 'failed'", result: {id: "${ body.id }"}}
"""
SLOW = manifests.tool("crm.contact", "contacts", execute=PENDING)
SOON_OVER = SLOW.replace("within: 1m", "within: 1s")


def test_accepted_work_is_asked_after_until_it_is_done_and_then_looked_at(story: Story) -> None:
    story.apply(manifests.one_step(SLOW))
    story.world.script(method="POST", answer="202", polls=3, book="after")
    truth = story.truth(story.agent.start())
    assert truth.outcomes("contact forward") == ["pending"]
    assert len(story.world.wire("GET", "/operations")) == 4
    assert (truth.state, truth.run["clean"], truth.made["contacts"]) == ("completed", True, 1)


def test_accepted_work_that_fails_has_failed_and_nothing_is_there(story: Story) -> None:
    story.apply(manifests.one_step(SLOW))
    story.world.script(method="POST", answer="202", polls=2, fails=True)
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.effects, truth.made.total()) == ("failed", {"contact forward": "failed nothing"}, 0)


def test_a_poll_address_that_is_lost_leaves_it_to_the_look(story: Story) -> None:
    story.apply(manifests.one_step(SOON_OVER))
    story.world.script(method="POST", answer="202", book="before")
    story.world.script(method="GET", path="/operations", answer="404", times=None)
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.made["contacts"], len(story.world.wire("POST"))) == ("completed", 1, 1)


def test_a_lost_poll_address_is_looked_past_at_once_and_a_miss_waits_for_the_work(story: Story) -> None:
    """The work goes on where nobody can ask after it: looks come early, and nothing is sent again because of them."""
    story.apply(manifests.one_step(SLOW.replace("within: 1m", "within: 40s")))
    gate = story.world.hold("/operations", method="GET")
    story.world.script(method="POST", answer="202", book="before")
    story.world.script(method="GET", path="/operations", answer="404", times=None)
    story.world.script(method="GET", path="/contacts", read="missing", times=2)
    run = story.agent.start()
    story.until(lambda: gate.arrived(timeout=0))
    gate.release()
    truth = story.truth(run)
    looks = truth.details["contact forward"]["looks"]
    assert [(x["verdict"], x["counted"]) for x in looks] == [("absent", False)] * 2 + [("found", True)]
    assert len(story.world.wire("GET", "/operations")) == 1
    assert (truth.state, truth.made["contacts"], len(story.world.wire("POST"))) == ("completed", 1, 1)


def test_a_page_at_the_poll_address_is_no_answer_and_is_asked_again(story: Story) -> None:
    story.apply(manifests.one_step(SLOW))
    story.world.script(method="POST", answer="202", polls=1, book="after")
    story.world.script(method="GET", path="/operations", answer="html200", times=2)
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.made["contacts"], truth.outcomes("contact forward")) == ("completed", 1, ["pending"])


def test_a_worker_killed_between_two_polls_leaves_the_address_to_the_next(story: Story) -> None:
    story.apply(manifests.one_step(SLOW))
    story.world.script(method="POST", answer="202", polls=6, book="after")
    gate = story.world.hold("/operations", method="GET", times=1)
    run = story.agent.start()
    with worker() as process:
        assert gate.arrived()
        process.kill()
        process.wait()
    gate.release()
    (pending,) = story.now(run).run["effects"]
    assert pending["state"] == "pending"
    truth = story.truth(run)
    assert (truth.state, truth.made["contacts"], len(story.world.wire("POST"))) == ("completed", 1, 1)


def test_work_that_never_ends_is_looked_for_once_its_own_time_is_over(story: Story) -> None:
    story.apply(manifests.one_step(SOON_OVER))
    story.world.script(method="POST", answer="202", polls=100_000, book="before")
    truth = story.truth(story.agent.start())
    assert (truth.state, truth.made["contacts"], len(story.world.wire("POST"))) == ("completed", 1, 1)


def test_a_cancelled_run_waits_for_accepted_work_to_end_and_then_undoes_it(story: Story) -> None:
    story.apply(manifests.one_step(SLOW))
    story.world.script(method="POST", answer="202", polls=10, book="after")
    run = story.agent.start()
    story.until(lambda: story.world.wire("GET", "/operations"))
    story.agent.post(f"runs/{run}/cancel", {"reason": "the customer left"})
    truth = story.truth(run)
    assert (truth.state, truth.made["contacts"], truth.standing.total()) == ("compensated", 1, 0)

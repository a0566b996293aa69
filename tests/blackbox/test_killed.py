"""C36, C46: a worker killed with SIGKILL while the provider holds its call; another one finds out what was done."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import quote

from django.core.management import call_command
from django.db import connection

from tests.blackbox import manifests
from tests.blackbox.conftest import Story


@contextlib.contextmanager
def worker() -> Iterator[subprocess.Popen[bytes]]:
    """A real worker on this test's database; killed at the end at the latest."""
    at = {name: quote(str(connection.settings_dict[name]), safe="") for name in ("USER", "PASSWORD", "PORT", "HOST")}
    name = quote(str(connection.settings_dict["NAME"]))
    url = f"postgresql://{at['USER']}:{at['PASSWORD']}@:{at['PORT']}/{name}?host={at['HOST']}"
    command = ["env", f"DATABASE_URL={url}", sys.executable, "-m", "tests.blackbox.worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()
            process.wait()


FIVE = {
    "contacts": manifests.HONOURED,  # booked, unanswered
    "members": manifests.HONOURED,  # not booked
    "bookings": manifests.KEYLESS,  # booked, unanswered
    "tickets": manifests.KEYLESS,  # not booked
    "orders": manifests.HONOURED,  # books only after the next worker has looked and sent again
}


def test_a_worker_killed_in_the_middle_of_its_calls_leaves_each_object_once_or_a_case_that_says_why(
    story: Story,
) -> None:
    tools = [manifests.tool(f"t.{name}", name, by=by) for name, by in FIVE.items()]
    steps = [manifests.step(name, f"t.{name}", after="[]") for name in FIVE]
    undone = [manifests.step("thing", "t.things"), manifests.step("last", "t.last")]
    plans = [manifests.workflow("onboarding", *steps), manifests.workflow("undone", *undone)]
    story.apply(
        manifests.manifest([*tools, manifests.tool("t.things", "things"), manifests.tool("t.last", "last")], plans)
    )
    story.world.script(method="POST", path="/last", answer="422")
    booked = [story.world.hold(path, where="booked") for path in ("/contacts", "/bookings")]
    dropped = [story.world.hold(path) for path in ("/members", "/tickets")]
    parked, undoing = story.world.hold("/orders"), story.world.hold("/things", "DELETE")
    run, turned_back = story.agent.start(), story.agent.start("undone")
    with worker() as process:
        for gate in [*booked, *dropped, parked, undoing]:
            while not gate.arrived(timeout=0.1):
                assert process.poll() is None, "the worker died by itself"
        process.kill()
        process.wait()
    assert {e["state"] for e in story.now(run).run["effects"]} == {"dispatched"}, "an intent was not kept"
    for gate in booked:
        gate.release()
    for gate in [*dropped, undoing]:
        gate.release(book=False)
    call_command("recover", "--json", stdout=io.StringIO())
    story.until(lambda: len(story.world.wire("POST", "/orders")) == 2)
    parked.release()
    forward(story, run)
    backward(story, turned_back)


def forward(story: Story, run: str) -> None:
    truth = story.truth(run)
    assert truth.made == {"contacts": 1, "members": 1, "bookings": 1, "orders": 1}
    verified = {f"{name} forward": "verified present" for name in FIVE}
    assert truth.effects == {**verified, "tickets forward": "stuck unknown"}
    sends = {name: len(story.world.wire("POST", f"/{name}")) for name in FIVE}
    assert sends == {"contacts": 1, "members": 2, "bookings": 1, "tickets": 1, "orders": 2}
    assert truth.details["tickets forward"]["reason"] == "cannot_know", "a second send could be a second ticket"
    assert (truth.state, len(truth.cases)) == ("stuck", 1)


def backward(story: Story, run: str) -> None:
    """C36: what was needed for the undoing was in the ledger, not in the memory of who died."""
    truth = story.truth(run)
    assert (truth.state, truth.standing.total()) == ("compensated", 0)
    assert [w.key for w in story.world.wire("DELETE", "/things")] == [truth.key("thing compensation")] * 2
    assert truth.outcomes("thing compensation") == ["", "acknowledged"]

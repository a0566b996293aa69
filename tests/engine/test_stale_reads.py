"""A write that is based on a read is not sent once what was read has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.conftest import states
from tests.engine.simulated import World, spec
from workflows import rows
from workflows.drain import drain_once
from workflows.models import Credential, Effect
from workflows.models import Tool as Row
from workflows.outcomes import Acknowledged, Outcome, Refused, Rejected, Unknown
from workflows.tasks import sweep
from workflows.tools.base import Tool
from workflows.tools.call import Call
from workflows.tools.tokens import Needs

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
VERSIONS: list[Any] = []  # what the reads show, in order; the last goes on


class Locked(Tool):
    """Reads with a key that its provider refuses after the first read."""

    asked = 0

    def needs(self, operation: str) -> Needs:
        return Needs(secrets=frozenset({"READ_TOKEN"}))

    def send(self, call: Call) -> Outcome:
        Locked.asked += 1
        if Locked.asked in (1, VERSIONS[0]):
            return Acknowledged(result={"id": "it", "version": 7})
        no = Rejected(secrets={"READ_TOKEN": "read-token-1"}, only_here=VERSIONS[1])
        return Refused(reason="401", temporary=True, rejected=no)


class Reader(Tool):
    def send(self, call: Call) -> Outcome:
        version = VERSIONS.pop(0) if len(VERSIONS) > 1 else VERSIONS[0]
        if version is None:
            return Unknown(reason="no answer")
        return Acknowledged(result={"id": "it", "version": version})


@pytest.fixture
def based(world: World, tool: Make, workflow: Make) -> Any:
    """A workflow that reads a thing, and writes right after it."""
    read = tool("t.read", effect_class="read_only", access="read_only", undo=False, verify=False)
    read.spec["class"] = f"{__name__}.Reader"
    read.spec["execute"]["version"] = "${ body.version }"
    read.save()
    tool("t.write")
    return workflow("t.read", "t.write")


@pytest.mark.parametrize(
    ("versions", "becomes", "sends", "why"),
    [
        ([7], "verified present", 1, ""),
        ([7, 8], "failed nothing", 0, "stale_read"),
        (["a", "b"], "failed nothing", 0, "stale_read"),
        ([7, 6, 7], "verified present", 1, ""),
        ([7, None, 7], "verified present", 1, ""),
    ],
    ids=["as it was", "newer", "another tag", "a replica that is behind", "unreadable for a while"],
)
def test_a_write_goes_only_while_what_it_is_based_on_is_as_it_was_read(
    world: World, based: Any, run_through: Make, versions: list[Any], becomes: str, sends: int, why: str
) -> None:
    VERSIONS[:] = versions
    run = run_through(based)
    assert (states(run)["write forward"], len(world.sends)) == (becomes, sends)
    write = Effect.objects.get(run=run, step__name="write")
    assert write.reason == why
    assert write.reads[0]["version"] == versions[0]


def test_after_a_send_that_may_have_changed_it_itself_a_write_is_not_called_stale(
    world: World, based: Any, run_through: Make
) -> None:
    write = Row.objects.get(name="t.write")
    write.spec = spec(verify=False)  # its key alone makes a second send harmless
    write.save()
    VERSIONS[:] = [7, 7, 8]
    world.script("t.write", "execute", "lost_after")
    assert states(run_through(based))["write forward"].startswith("acknowledged ")
    assert len(world.sends) == 2


@pytest.mark.parametrize("only_here", [False, True])
def test_a_write_whose_read_needs_a_refused_key_waits_for_it_too_and_asks_no_more_till_one_may_try_it(
    world: World, based: Any, run_through: Make, monkeypatch: pytest.MonkeyPatch, only_here: bool
) -> None:
    """It was read again with the refused key for ever, and its owner told of a new loss each time."""
    monkeypatch.setenv("MAKEGOOD_SECRET_READ_TOKEN", "read-token-1")
    VERSIONS[:], Locked.asked = [3, only_here], 0
    read = Row.objects.get(name="t.read")
    read.spec["class"] = f"{__name__}.Locked"
    read.save()
    run = run_through(based)
    write = Effect.objects.get(run=run, step__name="write")
    name = "secret READ_TOKEN" + (" at t.read" if only_here else "")
    assert (write.state, write.reason, [by["credential"] for by in write.blocked_by]) == ("blocked", "hold", [name])
    assert (Locked.asked, world.sends, Credential.objects.get().state) == (2, [], "lost")
    Credential.objects.update(ask_at=rows.now())
    sweep()
    drain_once()
    assert (states(run)["write forward"], Credential.objects.get().state) == ("verified present", "ready")

"""What the stories share: an outside that lies, a manifest applied to it, an agent, and a drain that really drains."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.blackbox.agent import Agent
from tests.blackbox.truth import Truth, agree
from tests.world.provider import Provider
from workflows import catalog, toolbox
from workflows.drain import Drain, next_due
from workflows.proof import verify
from workflows.tools import manifest

# A story takes a second; whoever waits longer than this waits for something that never comes.
PATIENCE = 60.0
# Longer than any wait of the manifests here: what is due later (a run's deadline, say) isn't waited for.
SOON = 20.0


class Story:
    """One run's way through the real engine, seen from outside only."""

    def __init__(self, world: Provider, drain: Drain) -> None:
        self.world = world
        self.drain = drain
        self._agent: Agent | None = None

    @property
    def agent(self) -> Agent:
        self._agent = self._agent or Agent()
        return self._agent

    def apply(self, *texts: str) -> None:
        files = [(f"manifest-{n}.yaml", text) for n, text in enumerate(texts, 1)]
        catalog.apply(manifest.load_texts(files, known_tools=catalog.known_tools()))

    def until(self, true: Callable[[], object], why: str = "it never came true") -> None:
        """Drains until it is true."""
        end = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < end, why
            if not self.drain.turn():
                self.drain.rest(0.02)

    def settle(self) -> None:
        """Drains until nothing is under way and nothing will move by itself soon."""
        self.until(self._idle, "the engine never came to rest")

    def _idle(self) -> bool:
        if self.drain.turn() or self.drain.under_way:
            return False
        due = next_due()
        return due is None or due > SOON

    def truth(self, run: str) -> Truth:
        """Drains to the end, then compares the four views."""
        self.settle()
        return agree(self.agent, self.world, run)

    def now(self, run: str) -> Truth:
        """The four views as they are in the middle of it."""
        return agree(self.agent, self.world, run)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    with Provider() as provider:
        monkeypatch.setenv("MAKEGOOD_ENV", "WORLD_URL")
        monkeypatch.setenv("WORLD_URL", provider.url)
        yield provider


@pytest.fixture
def story(transactional_db: None, world: Provider) -> Iterator[Story]:
    drain = Drain(slots=8)
    yield Story(world, drain)
    world.stop()  # first: what it still holds would keep the drain
    drain.close()
    toolbox.forget()
    broken: list[Any] = []
    verify(broken.append, lambda _count: None)
    assert not broken, "the journal's chains are broken"

"""The simulated world of the engine's tests, and the lying provider for real workers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engine.conftest import agent, begin, run_through, tool, workflow, world  # noqa: F401  fixtures
from tests.world.provider import Provider


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    with Provider() as provider:
        monkeypatch.setenv("MAKEGOOD_ENV", "WORLD_URL")
        monkeypatch.setenv("WORLD_URL", provider.url)
        yield provider

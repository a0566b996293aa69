"""The simulated world of the engine's tests."""

from tests.engine.conftest import agent, begin, run_through, tool, workflow, world  # noqa: F401  fixtures

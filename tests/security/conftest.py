"""What tests of security share: the engine's simulated world, agents that speak HTTP, and people with roles."""

from tests.api.conftest import caller, declared, ear, other
from tests.engine.conftest import agent, begin, run_through, tool, workflow, world
from tests.repairs.conftest import browse, person

__all__ = [
    "agent", "begin", "browse", "caller", "declared", "ear", "other", "person", "run_through", "tool", "workflow",
    "world",
]  # fmt: skip

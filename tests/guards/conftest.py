"""The simulated world of the engine's tests, an agent that speaks HTTP, and people."""

from tests.api.conftest import caller, declared  # noqa: F401  fixtures
from tests.engine.conftest import agent, begin, run_through, tool, workflow, world  # noqa: F401  fixtures
from tests.repairs.conftest import browse, person, stuck  # noqa: F401  fixtures

"""The tools that are ready to be called, by the id of their stored version. Used by the engine's verbs."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from workflows.tools import registry

if TYPE_CHECKING:
    from workflows.models import Tool as Stored
    from workflows.tools.base import Tool

_built: dict[uuid.UUID, Tool] = {}


def tool_of(stored: Stored) -> Tool:
    """A stored version never changes, so what was built from it may be kept."""
    if stored.id not in _built:
        _built[stored.id] = registry.build(stored.name, stored.kind, stored.spec)
    return _built[stored.id]


def forget() -> None:
    """Lets go of all that was built: for tests that make other tools under old ids."""
    _built.clear()

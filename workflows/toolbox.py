"""What never changes once stored, kept in this process: versions of tools and workflows, and what is made of them.

Only `current` of these rows ever changes; it is for those who start something new, and nobody reads it from here.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import inspect
import uuid
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from workflows.fetch import fetch, give
from workflows.models import Effect, Run, Step, Workflow
from workflows.models import Tool as Stored
from workflows.tools import registry

if TYPE_CHECKING:
    from workflows.tools.base import Tool
    from workflows.tools.timings import Timings

V = TypeVar("V", Stored, Workflow)

# By the number of the id: an id makes its hash anew whenever it is looked for.
_stored: dict[int, Any] = {}
_built: dict[int, Tool] = {}
_distrusted: set[tuple[str, int]] = set()
_pins: dict[int, tuple[str, str]] = {}


def tool_of(stored: Stored) -> Tool:
    number = stored.id.int
    if number not in _built:
        _built[number] = registry.build(stored.name, stored.kind, stored.spec)
    return _built[number]


def pins_of(stored: Stored) -> tuple[str, str]:
    """(digest of the profile, digest of what carries the tool out), which each of its effects keeps.

    A declared tool is carried out as its manifest says; a Python tool by code that may change under one version."""
    number = stored.id.int
    if number not in _pins:
        profile = hashlib.sha256(repr(sorted(stored.profile.items())).encode()).hexdigest()
        code = stored.digest
        if stored.kind == "python":
            code += _source(registry.tool_class(stored.kind, stored.spec))
        _pins[number] = (profile[:PIN], hashlib.sha256(code.encode()).hexdigest()[:PIN])
    return _pins[number]


PIN = 32  # hex digits: 128 bits tell two of an installation's versions apart


def _source(cls: type[Tool]) -> str:
    """The module's text: what a class calls beside itself is what it does, too."""
    try:
        return inspect.getsource(inspect.getmodule(cls) or cls)
    except (OSError, TypeError):
        return f"{cls.__module__}.{cls.__qualname__}"


def times_of(effect: Effect) -> Timings:
    """The times of the operation that the effect performs, by what its provider kept of its promises."""
    times = tool_of(effect.tool).timings(effect.operation)
    return times.keyless() if (effect.tool.name, effect.tool.version) in _distrusted else times


def key_until(effect: Effect) -> dt.datetime | None:
    """Until when its key keeps what was sent from happening twice; None: without end, never sent, or no key."""
    try:
        return times_of(effect).key_until(effect.first_sent_at)
    except (LookupError, OverflowError):  # an undoing that its tool doesn't declare; longer than there are dates
        return None


def distrust(versions: Iterable[tuple[str, int]]) -> None:
    """From now on these versions of tools, and no others, count as without keys in this process."""
    _distrusted.clear()
    _distrusted.update(versions)


def give_tools(rows: Sequence[Effect] | Sequence[Step]) -> None:
    """Puts the tool into each row. At most one statement, for versions not met before."""
    tools = _known(Stored, [row.tool_id for row in rows])
    for row, tool in zip(rows, tools, strict=True):
        give(row, "tool", tool)


def give_workflows(runs: Iterable[Run]) -> None:
    runs = list(runs)
    workflows = _known(Workflow, [run.workflow_id for run in runs])
    for run, workflow in zip(runs, workflows, strict=True):
        give(run, "workflow", workflow)


def _known(model: type[V], ids: list[uuid.UUID]) -> list[V]:
    """The rows of these ids, in their order."""
    try:
        return [_stored[i.int] for i in ids]
    except KeyError:
        missing = {i for i in ids if i.int not in _stored}
        _stored.update((row.id.int, row) for row in fetch(model, "WHERE t.id = ANY (%s)", [list(missing)]))
        return [_stored[i.int] for i in ids]


def forget() -> None:
    """Lets go of all that is kept: for tests that make other tools under old ids."""
    for kept in (_stored, _built, _pins, _distrusted):
        kept.clear()

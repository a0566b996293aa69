"""What `doctor` says of one thing."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from config.house.errors import SetupError


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """check: its name. problem: one sentence of what was found, good or bad. The rest is as in SetupError."""

    check: str
    ok: bool
    problem: str
    setting: str = ""
    value: str = ""
    way_out: str = ""


def asked(check: str, well: str, ask: Callable[[], None]) -> Finding:
    """The finding of a check that raises SetupError when something is wrong."""
    try:
        ask()
    except SetupError as error:
        return failed(check, error)
    return Finding(check=check, ok=True, problem=well)


def failed(check: str, error: SetupError) -> Finding:
    return Finding(
        check=check,
        ok=False,
        problem=error.problem,
        setting=error.setting,
        value=error.value,
        way_out=error.way_out,
    )

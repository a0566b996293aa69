"""What one blocker of a waiting effect says, as a clause: which stop, which credential, which resource."""

from __future__ import annotations

import contextlib
import datetime as dt
from typing import Any

from repairs.words import clock
from repairs.words.marked import _
from repairs.words.purse import too_little


def waits_for(blocker: Any) -> str:
    """Ids are left out where something can be named; a blocker of an unknown form is said as it stands."""
    match blocker:
        case {"stop": str(), "on": on, **rest}:
            return until(_("{on} is frozen", on=on), rest)
        case {"credential": name, "why": why}:
            return _("credential {name}: {why}", name=name, why=why)
        case {"budget": str(), "unit": _}:
            return too_little(blocker)
        case {"version": version, "detail": detail}:
            return f"{version}: {detail}"
        case {"approval": str(), **rest}:
            return until(_("people are asked"), rest)
        case {"secret": name, "why": why}:
            return _("secret {name}: {why}", name=name, why=why)
        case {"step": str(step), **rest} if not rest:
            return _("step {step}, which it builds upon, needs a person", step=step)
        case {"scope": scope, "effect": _}:
            return _("another effect is at {scope}", scope=scope)
        case dict():
            return " ".join(f"{key} {value}" for key, value in blocker.items() if value is not None)
        case _:
            return str(blocker)


def until(said: str, rest: dict[Any, Any]) -> str:
    end = rest.get("until")
    if not end:
        return said
    with contextlib.suppress(ValueError):
        end = clock.said(dt.datetime.fromisoformat(str(end)))
    return _("{what} until {when}", what=said, when=end)

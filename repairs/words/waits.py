"""What one blocker of a waiting effect says, as a clause: which stop, which credential, which resource."""

from __future__ import annotations

import datetime as dt
from typing import Any

from repairs.words import clock
from repairs.words.purse import too_little


def waits_for(blocker: Any) -> str:
    """Ids are left out where something can be named; a blocker of an unknown form is said as it stands."""
    match blocker:
        case {"stop": str(), "on": on, **rest}:
            return f"{on} is frozen{until(rest)}"
        case {"credential": name, "why": why}:
            return f"credential {name}: {why}"
        case {"budget": str(), "unit": _}:
            return too_little(blocker)
        case {"version": version, "detail": detail}:
            return f"{version}: {detail}"
        case {"approval": str(), **rest}:
            return f"people are asked{until(rest)}"
        case {"secret": name, "why": why}:
            return f"secret {name}: {why}"
        case {"scope": scope, "effect": _}:
            return f"another effect is at {scope}"
        case dict():
            return " ".join(f"{key} {value}" for key, value in blocker.items() if value is not None)
        case _:
            return str(blocker)


def until(rest: dict[Any, Any]) -> str:
    end = rest.get("until")
    try:
        return f" until {clock.said(dt.datetime.fromisoformat(str(end)))}" if end else ""
    except ValueError:
        return f" until {end}"

"""The values that manifests may read from the operator's environment: `env` names, and the one permission."""

from __future__ import annotations

import os
import re


def names() -> tuple[str, ...]:
    """The names in `MAKEGOOD_ENV` (comma-separated): all that `env.` may speak of."""
    return tuple(name for part in os.environ.get("MAKEGOOD_ENV", "").split(",") if (name := part.strip()))


def values() -> dict[str, str]:
    """Those of `names()` that are set. Read at each call: a changed environment needs no new build of a tool."""
    return {name: os.environ[name] for name in names() if name in os.environ}


def unset(text: str) -> str | None:
    """The name among `names()` that `text` reads as `env.NAME` and that has no value: the operator's to mend."""
    missing = (name for name in names() if name not in os.environ)
    return next((name for name in missing if re.search(rf"\benv\.{re.escape(name)}\b", text)), None)


def private_hosts_allowed() -> bool:
    """Loopback and private addresses are allowed unless the operator forbids them."""
    return os.environ.get("MAKEGOOD_ALLOW_PRIVATE_HOSTS", "true").strip().lower() not in ("false", "0", "no", "off")

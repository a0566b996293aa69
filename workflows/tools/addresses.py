"""Mail addresses in values: one address each, and nothing in which a second receiver could hide."""

from __future__ import annotations

import re

from workflows.tools.expressions import ExpressionError

# No comments, groups, quotes or lists.
ADDRESS = re.compile(r"[^\s@<>(),:;\"\[\]\\]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?")


def plain(path: str, text: str) -> str:
    """The address, if it is exactly one. Raises `ExpressionError`."""
    if not text.isascii() or not ADDRESS.fullmatch(text):
        raise ExpressionError(path, text, "is no single mail address; write a list for several")
    return text

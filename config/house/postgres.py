"""The embedded PostgreSQL of the data folder."""

from __future__ import annotations


def known_url() -> str:
    """The address of the embedded server as its address file tells it, or "" when none was started."""
    return ""

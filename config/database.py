"""Turns DATABASE_URL into Django's settings for one PostgreSQL database (settings, doctor and the tests)."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.conf import settings

from config.house.errors import SetupError

POOLED = "MAKEGOOD_POOLED"  # 1: sessions don't last, so nothing may be kept in one beyond a transaction
SCHEMES = ("postgresql", "postgres")
KEEP_SECONDS = 600  # a connection is kept this long: longer than any poll, shorter than most firewalls' idle limit
CONNECT_SECONDS = "5"  # a database that hasn't answered by then is said not to answer

# Where nothing is configured and nothing runs: port 1 refuses at once, so a command that reaches for it says so.
NOWHERE = "postgresql://nobody@127.0.0.1:1/nothing"


def settings_of(url: str) -> dict[str, Any]:
    """Django's DATABASES entry. Raises SetupError that names DATABASE_URL, without showing its password."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError as error:
        raise _bad(url, f"its port is not a number: {error}") from error
    if parts.scheme not in SCHEMES:
        raise _bad(url, f"it begins with {parts.scheme or 'no scheme'!r}, not with postgresql://")
    if not parts.path.strip("/"):
        raise _bad(url, "it names no database")
    query = dict(parse_qsl(parts.query))
    pooled = os.environ.get(POOLED) == "1"
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.removeprefix("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": query.pop("host", "") or unquote(parts.hostname or ""),
        "PORT": str(port or ""),
        "CONN_MAX_AGE": KEEP_SECONDS,
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": pooled,
        "OPTIONS": {
            "connect_timeout": CONNECT_SECONDS,
            **query,
            "server_side_binding": True,
            "prepare_threshold": None if pooled else 3,
        },
    }


def use(url: str) -> None:
    """Points a process whose settings are read already at this database; only before its first connection."""
    os.environ["DATABASE_URL"] = url  # for the processes it starts
    settings.DATABASES["default"].update(settings_of(url))


def without_password(url: str) -> str:
    parts = urlsplit(url)
    if not parts.password:
        return url
    return parts._replace(netloc=parts.netloc.replace(f":{parts.password}@", ":…@")).geturl()


def _bad(url: str, why: str) -> SetupError:
    return SetupError(
        f"DATABASE_URL can't be read: {why}.",
        setting="DATABASE_URL",
        value=without_password(url),
        way_out="Write it as postgresql://user:password@host:5432/database, or unset it for the embedded PostgreSQL.",
    )

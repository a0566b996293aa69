"""What `doctor --production` wants beyond a try-out on one machine."""

from __future__ import annotations

import os
from collections.abc import Iterator

import psycopg
from django.conf import settings
from django.core.checks import Tags, run_checks

from config.house.findings import Finding


def examine() -> Iterator[Finding]:
    yield _set(
        "own database",
        bool(os.environ.get("DATABASE_URL")),
        "The embedded PostgreSQL is for trying out: nothing backs it up and one machine holds it.",
        setting="DATABASE_URL",
        way_out="Name a PostgreSQL that is backed up.",
    )
    yield from _durable()
    yield _set(
        "tls",
        settings.HTTPS,
        "Logins and agent keys would cross the network readably.",
        setting="MAKEGOOD_HTTPS",
        way_out="Put a proxy with TLS before it and set MAKEGOOD_HTTPS=1.",
    )
    yield _set(
        "host names",
        bool(os.environ.get("ALLOWED_HOSTS")) and "*" not in settings.ALLOWED_HOSTS,
        "The console answers to loopback names only, or to any name.",
        setting="ALLOWED_HOSTS",
        way_out="Name the host that people use, for example ALLOWED_HOSTS=makegood.example.org.",
    )
    yield _set(
        "four eyes",
        settings.FOUR_EYES == "required",
        "A single person may approve and write off alone.",
        setting="FOUR_EYES",
        way_out="Unset it, or set FOUR_EYES=required.",
    )
    yield _set(
        "second factor",
        settings.SECOND_FACTOR == "required",
        "A password alone decides what is sent.",
        setting="MAKEGOOD_SECOND_FACTOR",
        way_out="Set MAKEGOOD_SECOND_FACTOR=required; whoever decides sets one up under their name.",
    )
    yield _set(
        "private hosts",
        not settings.MAKEGOOD_ALLOW_PRIVATE_HOSTS,
        "Tools may call loopback and private addresses.",
        setting="MAKEGOOD_ALLOW_PRIVATE_HOSTS",
        way_out="Set it to 0, unless your tools are inside on purpose.",
    )
    for message in run_checks(tags=[Tags.security], include_deployment_checks=True) if settings.HTTPS else []:
        yield Finding(check="django", ok=False, problem=str(message.msg).split("\n")[0], way_out=message.hint or "")


def _durable() -> Iterator[Finding]:
    """An acknowledged commit must survive a crash, or a sent effect could be forgotten and sent again."""
    url = os.environ.get("DATABASE_URL")
    if not url:
        return
    try:
        with psycopg.connect(url, connect_timeout=5) as connection:
            off = [
                name
                for name in ("fsync", "full_page_writes", "synchronous_commit")
                if connection.execute("SELECT current_setting(%s)", [name]).fetchone() == ("off",)
            ]
    except psycopg.Error:
        return  # the database check says so
    yield _set(
        "durable",
        not off,
        f"The database forgets in a crash: {', '.join(off)} off." if off else "The database keeps what it confirms.",
        setting="DATABASE_URL",
        way_out="Turn them on in postgresql.conf.",
    )


def _set(check: str, ok: bool, problem: str, *, setting: str, way_out: str) -> Finding:
    if ok:
        return Finding(check=check, ok=True, problem=f"{setting} is set well.")
    value = "" if setting == "DATABASE_URL" else os.environ.get(setting, "")
    return Finding(check=check, ok=False, problem=problem, setting=setting, value=value, way_out=way_out)

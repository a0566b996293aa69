"""What must be so before a command touches the database; each failure is a SetupError (manage.py, `up`, doctor)."""

from __future__ import annotations

import os
import socket

import psycopg

from config import database
from config.house.errors import SetupError

OLDEST = 15  # MERGE, and unique constraints over nulls
CONNECT_SECONDS = 5
PROBE = "makegood_probe"
HEARD_WITHIN = 2.0  # seconds; a bell takes milliseconds


def answers(url: str) -> None:
    """The database of this address takes our connection and is new enough."""
    database.settings_of(url)  # names what is wrong with the text itself
    try:
        with psycopg.connect(url, connect_timeout=CONNECT_SECONDS) as connection:
            version = connection.info.server_version // 10000
    except psycopg.Error as error:
        raise SetupError(
            f"The database does not answer: {(str(error).strip() or 'no reason given').splitlines()[0]}",
            setting="DATABASE_URL",
            value=database.without_password(url),
            way_out="Start that PostgreSQL, correct DATABASE_URL, or unset it for the embedded PostgreSQL.",
        ) from error
    if version < OLDEST:
        raise SetupError(
            f"The database is PostgreSQL {version}; {OLDEST} or newer is needed.",
            setting="DATABASE_URL",
            value=database.without_password(url),
            way_out="Name a newer PostgreSQL in DATABASE_URL, or unset it for the embedded one.",
        )


def pooled(url: str) -> bool:
    """Whether this address leads through a transaction pooler: there LISTEN succeeds, and nothing is ever heard."""
    with (
        psycopg.connect(url, connect_timeout=CONNECT_SECONDS, autocommit=True) as ear,
        psycopg.connect(url, connect_timeout=CONNECT_SECONDS, autocommit=True) as mouth,
    ):
        ear.execute(f"LISTEN {PROBE}")
        mouth.execute(f"NOTIFY {PROBE}")
        return not list(ear.notifies(timeout=HEARD_WITHIN, stop_after=1))


def migrated() -> None:
    """The tables are those of this code. Needs Django's settings to name a database that answers."""
    import django
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    django.setup()
    executor = MigrationExecutor(connection)
    missing = [str(migration) for migration, _ in executor.migration_plan(executor.loader.graph.leaf_nodes())]
    connection.close()  # commands that fork must not share it
    if missing:
        raise SetupError(
            f"{len(missing)} migrations are not applied to this database, the first is {missing[0]}.",
            setting="DATABASE_URL",
            value=database.without_password(os.environ.get("DATABASE_URL", "")),
            way_out="Run .venv/bin/python manage.py migrate (`up` does it by itself).",
        )


def port_free(port: int, host: str = "127.0.0.1") -> None:
    """Nobody listens there; asked by binding, as the web server will."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError) as error:
            raise SetupError(
                f"Port {port} on {host} can't be used: {getattr(error, 'strerror', '') or error}.",
                setting="--port",
                value=str(port),
                way_out="End the program that listens there, or name another: make up PORT=8001.",
            ) from error

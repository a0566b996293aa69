"""The PostgreSQL that is measured: the embedded one, in a folder of its own, with nothing switched off."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from config.house import postgres
from config.house.locks import Lock

DURABLE = ("fsync", "synchronous_commit", "full_page_writes")


class NotDurable(Exception):
    """What such a server answers is not on its disk; nothing measured on it would mean anything."""


class NotAlone(Exception):
    """Two benchmarks at once would measure each other."""


@contextlib.contextmanager
def own_server(folder: Path) -> Iterator[str]:
    """The address of a fresh server, gone at the end. Raises `NotAlone` while another benchmark has the folder."""
    lock = Lock(folder.with_name(f"{folder.name}.lock"))
    try:
        if not lock.try_take():
            who = lock.read() or "it is just starting"
            raise NotAlone(f"Another benchmark runs ({who}); both would measure each other. Let it end first.")
        lock.note(f"process {os.getpid()}")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        lease = postgres.join(folder)
        try:
            yield lease.url
        finally:
            lease.close(wait=True)
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        lock.close()


def checked(url: str) -> dict[str, str]:
    """The settings that make a commit durable, and the version. Raises `NotDurable` unless all of them are on."""
    with psycopg.connect(url, autocommit=True) as connection:
        found = {name: _shown(connection, name) for name in (*DURABLE, "server_version")}
    if off := [name for name in DURABLE if found[name] != "on"]:
        said = ", ".join(f"{name} is {found[name]}" for name in off)
        raise NotDurable(f"{said}: commits on this server are not durable, so its figures would mean nothing.")
    return found


def made(url: str, database: str) -> str:
    """The address of an empty database on the same server."""
    name = sql.Identifier(database)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
        connection.execute(sql.SQL("CREATE DATABASE {}").format(name))
    return at(url, database)


def at(url: str, database: str) -> str:
    return urlsplit(url)._replace(path=f"/{database}").geturl()


def dropped(url: str, database: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(database)))


def _shown(connection: psycopg.Connection[tuple[str]], name: str) -> str:
    row = connection.execute("SELECT current_setting(%s)", [name]).fetchone()
    return row[0] if row else ""

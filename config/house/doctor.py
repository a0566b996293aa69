"""Looks at this machine and this installation for `doctor`; changes nothing that stands."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError

from config import database, health
from config.house import disk, folder, postgres, preflight
from config.house.errors import SetupError
from config.house.findings import Finding, asked, failed
from config.house.locks import Lock

DISK = "disk"  # the name of the finding, and of the check of /health/ready
OLDEST_PYTHON = (3, 11)
SECRETS = ("secret-key", "install-secret", postgres.PASSWORD)


def examine(port: int, *, production: bool = False) -> Iterator[Finding]:
    """The findings, in the order in which a person would mend them."""
    data = folder.data_folder()
    runs = _who_runs(data)
    yield _python()
    yield asked("data folder", f"The data folder {data} can be written.", lambda: folder.write_into(data))
    yield _disk(data)
    yield from _secrets(data)
    yield _notices()
    yield from _database(data, working=production or bool(runs))
    if runs:
        yield Finding(check="port", ok=True, problem=f"Makegood runs: {runs}.")
    else:
        yield asked("port", f"Port {port} is free.", lambda: preflight.port_free(port))


def _python() -> Finding:
    version = sys.version.split()[0]
    if sys.version_info >= OLDEST_PYTHON:
        return Finding(check="python", ok=True, problem=f"Python is {version}.")
    way_out = "Remove .venv, then run make PYTHON=python3.11 up."
    return Finding(check="python", ok=False, problem=f"Python is {version}; 3.11 is needed.", way_out=way_out)


def _disk(data: Path) -> Finding:
    free = shutil.disk_usage(data).free
    return Finding(
        check=DISK,
        ok=not (short := disk.look()),
        problem=short or f"{free // disk.MEGABYTE} MB are free where the data folder is.",
        setting="MAKEGOOD_DATA",
        value=str(data),
        way_out="Free some space there, or move the folder to a larger disk. Work goes on by itself then.",
    )


def _secrets(data: Path) -> Iterator[Finding]:
    for file in (data / name for name in SECRETS):
        if file.exists() and file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            yield Finding(
                check="secrets",
                ok=False,
                problem=f"Others on this machine may read {file}.",
                setting="MAKEGOOD_DATA",
                value=str(data),
                way_out=f'chmod 600 "{file}"',
            )


def _notices() -> Finding:
    """Names no address: it may hold a secret."""
    told = ", ".join(str(receiver) for receiver in settings.NOTICES)
    problem = f"Notices go to {told}; manage.py notices --test tells each." if told else "Nobody is sent notices."
    return Finding(check="notices", ok=True, problem=problem)


def _database(data: Path, *, working: bool) -> Iterator[Finding]:
    """working: whether a queue should be alive, which is asked as /health/ready asks it."""
    url, lease = os.environ.get("DATABASE_URL", ""), None
    try:
        if not url and not postgres.made(data):
            yield Finding(check="database", ok=True, problem="No embedded database yet; the first `up` makes it.")
            return
        if not url:
            lease = postgres.join(data)
            url = lease.url
            database.use(url)
        preflight.answers(url)
    except SetupError as error:
        yield failed("database", error)
    else:
        yield Finding(check="database", ok=True, problem=f"{database.without_password(url)} answers.")
        yield _pooler(url)
        yield asked("migrations", "All migrations are applied.", preflight.migrated)
        for name, check in health.CHECKS.items() if working else ():
            if name != DISK:  # asked already, of the disk itself
                yield _alive(name, check)
        for name, note in health.NOTES.items():
            yield from _noted(name, note)
    finally:
        if lease:
            lease.close()


def _pooler(url: str) -> Finding:
    pooled, known = preflight.pooled(url), settings.MAKEGOOD_POOLED
    said = "leads through a transaction pooler" if pooled else "leads to PostgreSQL itself"
    return Finding(
        check="pooler",
        ok=known or not pooled,
        problem=f"The database's address {said}.",
        setting=database.POOLED,
        value="1" if known else "0",
        way_out="Set MAKEGOOD_POOLED=1 for every process, or name PostgreSQL's own address or a session pool.",
    )


def _alive(name: str, check: Callable[[], str]) -> Finding:
    try:
        problem = check()
    except DatabaseError as error:
        problem = f"It can't be asked: {error}".strip()
    way_out = "Start it: make up, or manage.py qcluster; if it runs, its log says what keeps it."
    return Finding(check=name, ok=not problem, problem=problem or f"The {name} is alive.", way_out=way_out)


def _noted(name: str, note: Callable[[], str]) -> Iterator[Finding]:
    """What somebody did on purpose, said so that nobody looks for a fault."""
    with contextlib.suppress(DatabaseError):
        if told := note():
            yield Finding(check=name, ok=True, problem=told)


def _who_runs(data: Path) -> str:
    """The `up` that holds this folder, if any."""
    with contextlib.closing(Lock(data / "up.lock")) as lock:
        return "" if lock.try_take() else lock.read() or "it is just starting"

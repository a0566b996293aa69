"""Opens the database for a command before Django reads its settings, and says failures in plain words (manage.py)."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import warnings
from collections.abc import Iterator, Sequence

from config.house import folder, postgres, preflight
from config.house.errors import SetupError

# These read code only, or see to the database themselves.
WITHOUT_DATABASE = {"", "help", "version", "check", "makemigrations", "diffsettings", "spectacular", "up", "doctor"}
BEFORE_MIGRATIONS = {"migrate", "showmigrations", "sqlmigrate", "dbshell", "shell", "inspectdb", "test"}


@contextlib.contextmanager
def opened(arguments: Sequence[str]) -> Iterator[None]:
    """Inside, DATABASE_URL names a database that answers, if the command of this command line needs one.

    Without DATABASE_URL that is the embedded PostgreSQL: the one `up` runs, or one for as long as the command takes.
    """
    command = arguments[1] if len(arguments) > 1 else ""
    if command in WITHOUT_DATABASE or command.startswith("-") or {"--help", "-h", "--version"} & set(arguments[1:]):
        warnings.filterwarnings("ignore", message="Got an error checking a consistent migration history")
        yield
        return
    lease = None
    if not os.environ.get("DATABASE_URL"):
        lease = postgres.join(folder.data_folder())
        os.environ["DATABASE_URL"] = lease.url
    try:
        preflight.answers(os.environ["DATABASE_URL"])
        if command not in BEFORE_MIGRATIONS:
            preflight.migrated()
        yield
    finally:
        if lease:
            lease.close()


def refuse(error: SetupError, arguments: Sequence[str]) -> int:
    """Says what stands in the way; doctor's readers get it in doctor's own form. Returns the exit code."""
    if "doctor" in arguments[1:2] and "--json" in arguments:
        finding = {"check": "settings", "ok": False, "problem": error.problem, "setting": error.setting}
        print(json.dumps({"ok": False, "checks": [finding | {"value": error.value, "way_out": error.way_out}]}))  # noqa: T201
    else:
        print(error, file=sys.stderr)  # noqa: T201
    return 1

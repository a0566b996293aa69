"""Joins the embedded PostgreSQL of a data folder, starting it if need be (manage.py, `up`, the tests).

1. Whoever uses the server holds a shared lock on `postgres.users`; the kernel gives it back however the user dies.
2. The first one starts the keeper, a process of its own, which makes the cluster, starts the server and writes the
   address file once the server answers as this very cluster.
3. The keeper waits for the lock alone: when it gets it nobody is left, and it stops the server.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from config.house import folder as data
from config.house import processes
from config.house.errors import SetupError
from config.house.locks import Lock, alone

ADDRESS = "postgres.json"
PASSWORD = "postgres-password"  # noqa: S105 - the name of the file that holds it
ROLE = DATABASE = "makegood"
END_PATIENCE = 40.0  # seconds: a little more than the keeper gives the server

_keepers: list[subprocess.Popen[str]] = []  # those started here: kept, so that each is reaped when it ends


@dataclasses.dataclass(slots=True)
class Lease:
    """The right to use the server; it stays up until every lease is closed or its holder gone."""

    url: str
    port: int
    keeper: tuple[int, str]
    lock: Lock

    def holds(self) -> bool:
        """Whether the keeper, and so the server, still runs."""
        return processes.alive(*self.keeper)

    def close(self, *, wait: bool = False) -> None:
        """Gives the lease back; with `wait`, comes back once the server is gone."""
        self.lock.close()
        if wait:
            processes.wait_gone([self.keeper], END_PATIENCE)
            for keeper in _keepers:
                keeper.poll()  # reaps it


def join(folder: Path, *, careless: bool = False) -> Lease:
    """A lease on the server of this folder. `careless`: no fsync, for tests. Raises SetupError in plain words."""
    lock = Lock(folder / "postgres.users")
    try:
        lock.share()  # waits for a server that is just being stopped
        with alone(folder / "postgres.start"):
            found = _running(folder) or _start(folder, careless=careless)
        return Lease(_url(folder, found), found["port"], _keeper(found), lock)
    except BaseException:
        lock.close()
        raise


def made(folder: Path) -> bool:
    """Whether this data folder has an embedded database, here or where its note says."""
    return (folder / "postgres").exists() or (folder / "postgres-elsewhere").exists()


def known_url() -> str:
    """The address of the server of the data folder if it runs, else ""; for processes that hold no lease."""
    folder = data.data_folder()
    found = _running(folder)
    return _url(folder, found) if found else ""


def address(folder: Path) -> dict[str, Any] | None:
    """What the keeper wrote: port, keeper and postmaster as [pid, started], identifier; None if nothing legible."""
    try:
        found = json.loads((folder / ADDRESS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and found.keys() >= {"port", "keeper", "postmaster"} else None


def _running(folder: Path) -> dict[str, Any] | None:
    found = address(folder)
    return found if found and processes.alive(*_keeper(found)) and processes.alive(*found["postmaster"]) else None


def _start(folder: Path, *, careless: bool) -> dict[str, Any]:
    """Starts the keeper and waits for its one line: the address, or what stands in the way."""
    words = [sys.executable, "-m", "config.house.keeper", str(folder), *(["--careless"] if careless else [])]
    with (folder / "keeper.log").open("w") as log:
        keeper = subprocess.Popen(
            words,
            cwd=data.ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        )
    _keepers.append(keeper)
    assert keeper.stdout is not None
    with keeper.stdout:
        line = keeper.stdout.readline()
    if not line:
        raise SetupError(
            f"The embedded PostgreSQL could not be started; {folder / 'keeper.log'} says why.",
            setting="MAKEGOOD_DATA",
            value=str(folder),
            way_out="Mend what it says, or name a PostgreSQL of your own in DATABASE_URL.",
        )
    said: dict[str, Any] = json.loads(line)
    if "problem" in said:
        raise SetupError(said.pop("problem"), **said)
    return said


def _url(folder: Path, found: dict[str, Any]) -> str:
    return f"postgresql://{ROLE}:{data.secret(PASSWORD, folder)}@127.0.0.1:{found['port']}/{DATABASE}"


def _keeper(found: dict[str, Any]) -> tuple[int, str]:
    pid, started = found["keeper"]
    return pid, started

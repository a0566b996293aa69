"""The process that keeps one embedded PostgreSQL: `python -m config.house.keeper FOLDER`, started by postgres.join.

1. Ends what a killed keeper left, makes the cluster if there is none, starts the server on a free port.
2. Once the server answers as this very cluster: writes the address file, prints the address as one line of JSON.
3. Waits until nobody holds the users' lock any more (or SIGTERM), and stops the server.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import psycopg

from config.house import cluster, processes
from config.house import folder as data
from config.house.errors import SetupError
from config.house.locks import Lock
from config.house.place import Place, find
from config.house.postgres import ADDRESS, DATABASE, PASSWORD, ROLE, address

LOG = "postgres.log"
START_PATIENCE = 90.0  # seconds: a crash recovery on a slow disk; `up` promises 120 for everything
FAST_PATIENCE = 25.0  # seconds for a fast shutdown, which writes out what is in memory
LOOK_EVERY = 0.03
TRANSIENT = ("pre-existing shared memory", "lock file", "could not bind", "is another postmaster")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--careless", action="store_true")
    options = parser.parse_args()
    try:
        server, found = _bring_up(options.folder, careless=options.careless)
    except SetupError as error:
        _say({"problem": error.problem, "setting": error.setting, "value": error.value, "way_out": error.way_out})
        return 1
    _say(found)
    try:
        _keep(server, options.folder)
    finally:
        (options.folder / ADDRESS).unlink(missing_ok=True)
    return 0


def _bring_up(folder: Path, *, careless: bool) -> tuple[subprocess.Popen[bytes], dict[str, Any]]:
    place = find(folder)
    known = address(folder) or {"port": 0}
    _end_leftovers(place, known)
    cluster.make(place, folder)
    until = time.monotonic() + START_PATIENCE
    log = folder / LOG
    while True:
        # The port of last time, if it is free: what still has the old address then finds the server again.
        port = cluster.free_port(known["port"])
        server = cluster.launch(place, port=port, log=log, careless=careless)
        said = _failure(server, place, folder, port, until)
        if not said:
            break
        server.kill()
        server.wait()
        if time.monotonic() > until or not any(words in said for words in TRANSIENT):
            raise SetupError(
                f"The embedded PostgreSQL does not start: {said}",
                setting="MAKEGOOD_DATA",
                value=str(folder),
                way_out=f"Mend what {log} says, or name a PostgreSQL of your own in DATABASE_URL.",
            )
        time.sleep(LOOK_EVERY)
    found = {
        "port": port,
        "keeper": [os.getpid(), processes.started(os.getpid())],
        "postmaster": [server.pid, processes.started(server.pid)],
        "identifier": cluster.identifier(place.cluster),
    }
    draft = folder / f"{ADDRESS}.draft"
    draft.write_text(json.dumps(found), encoding="utf-8")
    draft.rename(folder / ADDRESS)
    return server, found


def _failure(server: subprocess.Popen[bytes], place: Place, folder: Path, port: int, until: float) -> str:
    """ "" once the server answers as our cluster and our database is in it; else why it does not."""
    while server.poll() is None and time.monotonic() < until:
        try:
            with psycopg.connect(
                host="127.0.0.1",
                port=port,
                dbname="postgres",
                user=ROLE,
                password=data.secret(PASSWORD, folder),
                connect_timeout=5,
                autocommit=True,
            ) as connection:
                row = connection.execute("SELECT system_identifier::text FROM pg_control_system()").fetchone()
                if row != (cluster.identifier(place.cluster),):
                    return "could not bind: another PostgreSQL took the port first"
                if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
                    connection.execute(f"CREATE DATABASE {DATABASE}")
                return ""
        except psycopg.OperationalError:
            time.sleep(LOOK_EVERY)
    return _last_words(folder / LOG)


def _end_leftovers(place: Place, known: dict[str, Any]) -> None:
    """A killed keeper leaves its server behind: it has no keeper any more, so it goes, and a new one starts."""
    if "postmaster" in known:
        processes.end([tuple(known["postmaster"])], gently=signal.SIGINT, patience=FAST_PATIENCE)
    lock_file = place.cluster / "postmaster.pid"
    try:
        pid = int(lock_file.read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return
    if _is_postgres_of(pid, place.cluster):
        processes.end([(pid, processes.started(pid))], gently=signal.SIGINT, patience=FAST_PATIENCE)
    elif processes.started(pid):
        lock_file.unlink()  # the number went to some other program since; PostgreSQL would refuse to start for it


def _is_postgres_of(pid: int, folder: Path) -> bool:
    try:
        return str(folder) in psutil.Process(pid).cmdline()
    except psutil.Error:
        return False


def _keep(server: subprocess.Popen[bytes], folder: Path) -> None:
    """Until the server ends by itself, or nobody uses it any more and it is stopped."""
    users = Lock(folder / "postgres.users")

    def wait_for_users() -> None:
        users.take()
        _stop(server)

    signal.signal(signal.SIGTERM, lambda *_: server.send_signal(signal.SIGINT))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=wait_for_users, daemon=True).start()
    server.wait()


def _stop(server: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):  # fast, immediate, and by force
        server.send_signal(number)
        try:
            server.wait(FAST_PATIENCE)
            return
        except subprocess.TimeoutExpired:
            continue


def _last_words(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    worst = [line for line in lines if "FATAL" in line or "PANIC" in line or "ERROR" in line]
    return (worst or lines or ["it said nothing"])[-1].split("  ", 1)[-1].strip()


def _say(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)  # noqa: T201 - the one line that postgres.join waits for
    sys.stdout.close()


if __name__ == "__main__":
    sys.exit(main())

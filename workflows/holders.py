"""Names the process that holds an effect, and tells whether it can still be alive. Used by dispatch, look and recover.

A name is `place:pid:start`. The place tells this boot of this machine, and the space in which its numbers of processes
mean something: another machine of the same name, or this one before it was started anew, is another place. Of who
works in another place nothing is known here; its leases tell.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path

BOOT = Path("/proc/sys/kernel/random/boot_id")
SPACE = Path("/proc/self/ns/pid")
KEPT_OF_BOOT = 8  # characters of a random id: enough to tell one boot from another


def holder_name() -> str:
    """Place, process and its start: tells whether whoever holds an effect can still be alive."""
    return _named(os.getpid())


@functools.lru_cache(maxsize=1)
def _named(pid: int) -> str:
    return f"{place()}:{pid}:{started(pid)}"


@functools.cache
def place() -> str:
    return f"{os.uname().nodename}/{_boot()}.{_space()}"


def _boot() -> str:
    try:
        return BOOT.read_text(encoding="ascii").strip().replace("-", "")[:KEPT_OF_BOOT]
    except OSError:
        return ""


def _space() -> str:
    """The number of the namespace of process numbers: containers of one machine have their own."""
    try:
        return "".join(c for c in str(SPACE.readlink()) if c.isdigit())
    except OSError:
        return ""


def started(pid: int) -> str:
    """The kernel's start time of a process, "" where there is none or the system doesn't tell."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    except OSError:
        return ""


def alive(holder: str) -> bool:
    """Of a holder in this place. Where the system tells no starts, a reused pid counts as alive: the lease decides."""
    _, pid, start = holder.rsplit(":", 2)
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not start or started(int(pid)) == start

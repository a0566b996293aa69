"""Names the process that holds an effect, and tells whether it can still be alive. Used by dispatch and recover."""

from __future__ import annotations

import os
from pathlib import Path


def holder_name() -> str:
    """Host, process and its start: tells whether whoever holds an effect can still be alive."""
    pid = os.getpid()
    return f"{os.uname().nodename}:{pid}:{started(pid)}"


def started(pid: int) -> str:
    """The kernel's start time of a process, "" where there is none or the system doesn't tell."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    except OSError:
        return ""


def alive(holder: str) -> bool:
    """Of a holder on this host. Where the system tells no starts, a reused pid counts as alive: the lease decides."""
    _, pid, start = holder.rsplit(":", 2)
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not start or started(int(pid)) == start

"""`python -m tests.house.no_namespaces FOLDER COMMAND...`: as root without user namespaces, with FOLDER over /var/lib.

1. The child gets user and mount namespaces of its own; the parent, outside, makes every user in it the same as outside.
2. The child lays FOLDER over /var/lib, forbids user namespaces within its own, and becomes the command.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

NEW_USERS, NEW_MOUNTS = 0x10000000, 0x00020000  # CLONE_NEWUSER and CLONE_NEWNS of sched.h
EVERYBODY = "0 0 65536"
REFUSED = 77


def main(folder: str, command: list[str]) -> int:
    inside, outside = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        if ctypes.CDLL(None).unshare(NEW_USERS | NEW_MOUNTS):
            os._exit(REFUSED)
        os.write(inside[1], b"!")
        os.read(outside[0], 1)
        os.setuid(0)
        os.setgid(0)
        if subprocess.call(["mount", "--bind", folder, "/var/lib"]):
            os._exit(REFUSED)
        Path("/proc/sys/user/max_user_namespaces").write_text("0")
        os.execvp(command[0], command)
    os.close(inside[1])
    if os.read(inside[0], 1):
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{child}/{name}").write_text(EVERYBODY)
        os.write(outside[1], b"!")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

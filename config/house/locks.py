"""Locks that the kernel gives back when their holder dies, however it dies (for `up` and the embedded database)."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

LOOK_EVERY = 0.05  # seconds


class Lock:
    """A file lock, held until `release` or until every process that has this descriptor is gone."""

    def __init__(self, file: Path) -> None:
        self._descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if os.geteuid() == 0:  # run once by root in an ordinary user's folder, it must not shut that user out
            owner = file.parent.stat()
            os.fchown(self._descriptor, owner.st_uid, owner.st_gid)

    def share(self) -> None:
        fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    def take(self) -> None:
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def try_take(self, patience: float = 0.0) -> bool:
        """Whether it could be taken within so many seconds."""
        until = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= until:
                    return False
                time.sleep(LOOK_EVERY)
            else:
                return True

    def note(self, text: str) -> None:
        """Leaves a word for whoever finds the lock taken."""
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, text.encode(), 0)

    def read(self) -> str:
        return os.pread(self._descriptor, 4096, 0).decode(errors="replace")

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


@contextlib.contextmanager
def alone(file: Path) -> Iterator[None]:
    """One process at a time runs what is inside."""
    lock = Lock(file)
    try:
        lock.take()
        yield
    finally:
        lock.close()

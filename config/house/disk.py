"""Whether there is room to record what is begun: below the threshold nothing new is begun (drain, API, health, doctor).

What is under way still ends: the threshold is its reserve. A server of one's own keeps its disk to itself; where that
one is full the intent can't be written, and nothing is sent either.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from django.conf import settings

from config.house.place import ELSEWHERE

MEGABYTE = 2**20
SHARE = 0.15  # of a small disk: the reserve must not be all that such a disk ever has
LOOK_EVERY = 1.0  # seconds: many times quicker than a disk fills, and a drain asks at every turn

_seen: tuple[float, str] = (0.0, "")


def low() -> str:
    """ "" while there is room, else one sentence that says where, how much is left, and what it means."""
    global _seen
    now = time.monotonic()
    if now - _seen[0] >= LOOK_EVERY or not _seen[0]:
        _seen = (now, look())
    return _seen[1]


def look() -> str:
    """The same, asked of the disk itself."""
    return next(filter(None, (_short(folder) for folder in folders(settings.DATA_FOLDER))), "")


def folders(data: Path) -> list[Path]:
    """Where the embedded server and the data folder lie."""
    note = data / ELSEWHERE
    return [data, Path(note.read_text(encoding="utf-8").strip())] if note.exists() else [data]


def _short(folder: Path) -> str:
    try:
        disk = shutil.disk_usage(folder)
    except OSError:
        return ""  # a folder that isn't there is somebody else's trouble, and is named there
    least = wanted(disk.total)
    if disk.free >= least:
        return ""
    return (
        f"Only {disk.free // MEGABYTE} MB are free in {folder}, less than the {least // MEGABYTE} that are kept for"
        " answers of what is under way: nothing new is sent until there is room again."
    )


def wanted(total: int) -> int:
    """The bytes that must be free on a disk of so many."""
    return min(settings.LEAST_FREE, int(total * SHARE))

"""Refuses what is new while the disk is nearly full: its outcome could not be recorded. For start and steps only."""

from __future__ import annotations

from config.house import disk
from workflows.errors import NoRoom


def room_or_refuse() -> None:
    if short := disk.low():
        raise NoRoom(f"{short} Nothing was written; ask again later.")

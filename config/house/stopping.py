"""Tells long work inside a child of `up` that its program is being stopped, so that it ends between two acts (tasks).

A qcluster asked to end waits for its tasks and can't tell them; a file that appears can.
"""

from __future__ import annotations

import os
from pathlib import Path

NAME = "MAKEGOOD_STOPPING"  # the file's name, in the environment of each child of `up`


def asked() -> bool:
    """Whether this program is being stopped; always false for one that `up` didn't start."""
    name = os.environ.get(NAME, "")
    return bool(name) and Path(name).exists()

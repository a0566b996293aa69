"""Runs a command as another kind of user, by namespaces of Linux; skips the test where they are not to be had."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from config.house.folder import ROOT

REFUSED = 77  # what no_namespaces.py answers where the kernel refuses


def as_user(user: str | int, command: Sequence[str], *, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """As that user, who can still reach what we can reach."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("needs root and unshare")
    return _run(["unshare", "--user", f"--map-user={user}", "--map-group=65534", "--", *command], env)


def without_user_namespaces(command: Sequence[str], *, over_var_lib: Path) -> subprocess.CompletedProcess[str]:
    """As root of a machine that allows no user namespaces, with that folder in the place of /var/lib."""
    if os.geteuid() != 0 or sys.platform != "linux":
        pytest.skip("needs root and Linux")
    answer = _run([sys.executable, "-m", "tests.house.no_namespaces", str(over_var_lib), *command], {})
    if answer.returncode == REFUSED:
        pytest.skip("this kernel gives no namespaces to play in")
    return answer


def _run(command: Sequence[str], env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )

"""A benchmark of durable effects refuses a server that isn't durable."""

from __future__ import annotations

import os
import subprocess
import sys

from config.house import folder


def test_a_server_that_loses_commits_is_refused_by_name_and_nothing_is_measured() -> None:
    given = os.environ["DATABASE_URL"]
    url = f"{given}{'&' if '?' in given else '?'}options=-csynchronous_commit%3Doff"
    words = [sys.executable, "-m", "benchmarks", "--alone", "--database", url]
    said = subprocess.run(words, cwd=folder.ROOT, capture_output=True, text=True, check=False)
    assert said.returncode == 2
    assert "synchronous_commit is off" in said.stderr
    assert "not durable" in said.stderr
    assert "round" not in said.stdout

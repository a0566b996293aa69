"""A benchmark of durable effects refuses a server that isn't durable, and to share its machine with another."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from config.house import folder
from config.house.locks import alone


def test_a_server_that_loses_commits_is_refused_by_name_and_nothing_is_measured() -> None:
    given = os.environ["DATABASE_URL"]
    url = f"{given}{'&' if '?' in given else '?'}options=-csynchronous_commit%3Doff"
    words = [sys.executable, "-m", "benchmarks", "--alone", "--database", url]
    said = subprocess.run(words, cwd=folder.ROOT, capture_output=True, text=True, check=False)
    assert said.returncode == 2
    assert "synchronous_commit is off" in said.stderr
    assert "not durable" in said.stderr
    assert "round" not in said.stdout


def test_a_second_benchmark_in_one_folder_is_refused_and_leaves_the_first_ones_server_alone(tmp_path: Path) -> None:
    kept = tmp_path / "bench" / "of the first"
    kept.mkdir(parents=True)
    with alone(tmp_path / "bench.lock"):
        said = subprocess.run(
            [sys.executable, "-m", "benchmarks", "--alone"],
            cwd=folder.ROOT,
            env={**os.environ, "MAKEGOOD_DATA": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert said.returncode == 2
    assert "Another benchmark runs" in said.stderr
    assert kept.exists()

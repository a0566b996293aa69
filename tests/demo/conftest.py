"""The outside services as the demo runs them: started once a test session, by the same command."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# The services start in about a second; this is for a machine that does much else.
START = 60


@contextlib.contextmanager
def outside_services(data: Path) -> Iterator[dict[str, str]]:
    """Starts them on free ports; yields what belongs into the environment."""
    ports = data / "outside.json"
    ports.unlink(missing_ok=True)
    command = [sys.executable, "-m", "examples.outside", "serve", "--data", str(data), "--pipe"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        try:
            for _ in range(START * 20):
                if ports.exists() or process.poll() is not None:
                    break
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(0.05)
            yield json.loads(ports.read_text())
        finally:
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(START) == 0


@pytest.fixture(scope="session")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with outside_services(tmp_path_factory.mktemp("outside") / "with a space") as environment:
        yield environment

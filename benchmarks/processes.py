"""Processes that say "ready" on a line of their own, then work. Used for workers and peers."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from typing import IO, Any

from config.house import folder

PATIENCE = 30.0  # seconds beyond the span for a process to end by itself


@dataclasses.dataclass(slots=True)
class Started:
    process: subprocess.Popen[str]

    def ready(self) -> None:
        """Waits for the line. Raises `RuntimeError` if the process ends without it."""
        said = []
        while line := _stream(self.process.stdout).readline():
            if line == "ready\n":
                return
            said.append(line)
        raise RuntimeError(f"{self.process.args!r} ended with {self.process.wait()}: {''.join(said)[-2000:]}")

    def go(self) -> None:
        stream = _stream(self.process.stdin)
        stream.write("go\n")
        stream.flush()

    def result(self) -> dict[str, Any]:
        """The last line as JSON, once the process has ended."""
        lines = _stream(self.process.stdout).read().strip().splitlines()
        self.end()
        found: dict[str, Any] = json.loads(lines[-1])
        return found

    def end(self) -> None:
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()


def started(words: list[str], *, stdin: int = subprocess.PIPE, environment: dict[str, str] | None = None) -> Started:
    return Started(
        subprocess.Popen(words, cwd=folder.ROOT, stdin=stdin, stdout=subprocess.PIPE, env=environment, text=True)
    )


def _stream(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream

"""The lying provider in a process of its own, driven from a test by the same words as the one in the test's process."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from typing import Any

from tests.world.gates import LONGEST_HOLD


class Remote:
    """script, hold, plant, slam and oracle over the control door."""

    def __init__(self, url: str) -> None:
        self.url = url

    def script(self, **fields: Any) -> None:
        self._call("POST", "_switch", fields)

    def clear(self) -> None:
        self._call("DELETE", "_switch")

    def hold(self, path: str, method: str = "POST", **fields: Any) -> RemoteGate:
        number = self._call("POST", "_hold", {"path": path, "method": method, **fields})["id"]
        return RemoteGate(self, number)

    def plant(self, collection: str, **body: Any) -> str:
        return str(self._call("POST", "_plant", {"collection": collection, **body})["id"])

    def slam(self, times: int = 1) -> None:
        self._call("POST", "_slam", {"times": times})

    @property
    def oracle(self) -> dict[str, Any]:
        return dict(self._call("GET", "_oracle"))

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        request = urllib.request.Request(f"{self.url}/{path}", method=method, data=json.dumps(body or {}).encode())
        with urllib.request.urlopen(request, timeout=LONGEST_HOLD + 10) as answer:
            return json.load(answer)


class RemoteGate:
    def __init__(self, remote: Remote, number: int) -> None:
        self._remote, self._number = remote, number

    def arrived(self, *, calls: int = 1, timeout: float = LONGEST_HOLD) -> bool:
        fields = {"calls": calls, "timeout": timeout}
        return bool(self._remote._call("POST", f"_hold/{self._number}/wait", fields)["arrived"])

    def release(self, *, book: bool = True) -> None:
        self._remote._call("POST", f"_hold/{self._number}/release", {"book": book})


@contextlib.contextmanager
def provider_process() -> Iterator[Remote]:
    """Starts one on a free port and ends it."""
    command = [sys.executable, "-m", "tests.world.provider", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield Remote(f"http://127.0.0.1:{int(process.stdout.readline())}")
        finally:
            process.terminate()

"""A drain in a process of its own: `python -m tests.demo.worker` works until its stdin closes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import traceback
from collections.abc import Mapping
from urllib.parse import quote

END = 60  # seconds for the calls under way to end


class Worker:
    """One such process on this test's database; a test may kill it and start it again."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.start()

    def start(self) -> None:
        from django.db import connection

        command = [sys.executable, "-m", "tests.demo.worker"]
        known = {**os.environ, **self._environment, "DATABASE_URL": _url(connection.settings_dict)}
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, env=known)
        self.pid = self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def wait(self) -> None:
        """Until it has ended, by whomever."""
        self._process.communicate(timeout=END)

    def stop(self) -> None:
        """Gently: calls under way end and are recorded."""
        try:
            self.wait()  # closes its stdin first
        finally:
            self._process.kill()


def _url(settings: Mapping[str, str]) -> str:
    """The test's database as an address; a socket's folder goes into the query."""
    login = ":".join(quote(settings[part], safe="") for part in ("USER", "PASSWORD") if settings[part])
    host = settings["HOST"]
    place, query = ("", f"?host={quote(host, safe='')}") if host.startswith("/") else (host, "")
    port = f":{settings['PORT']}" if settings["PORT"] else ""
    return f"postgresql://{login}@{place}{port}/{quote(settings['NAME'], safe='')}{query}"


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from workflows import bells
    from workflows.drain import Drain, next_due
    from workflows.engine.recover import recover

    over = threading.Event()
    threading.Thread(target=_until_closed, args=[over], daemon=True).start()
    while not over.is_set():
        work = Drain(8)
        listener = bells.Listener(lambda: work.bell.put("work"), slots=2)  # noqa: B023 - closed before the next
        try:
            recover(dead_holders=True)
            while not over.is_set():
                if not work.turn():
                    work.rest(next_due())
        except Exception:
            # As under qcluster: this drain is lost, the next one goes on. Tables emptied under it can do that.
            traceback.print_exc()
        finally:
            listener.close()
            work.close()


def _until_closed(over: threading.Event) -> None:
    sys.stdin.read()
    over.set()


if __name__ == "__main__":
    main()

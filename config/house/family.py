"""Keeps the children of `up` running: starts each again when it ends, with back-off, and says so (supervisor)."""

from __future__ import annotations

import os
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from config.house.children import Child

FIRST_BACKOFF, LAST_BACKOFF = 1.0, 30.0  # seconds before a dead child is started again, doubling
TELL_PATIENCE = 20.0  # seconds that the others wait for what a child tells; then they start without it
LISTS = {"MAKEGOOD_ENV"}
LIVED_WELL = 60.0  # seconds: a child that lived so long begins its back-off anew


class Family:
    def __init__(self, children: Sequence[Child], folder: Path, say: Callable[[str], None]) -> None:
        self._children = {child.name: child for child in children}
        self._folder, self._say = folder, say
        self._due = dict.fromkeys(self._children, 0.0)  # name -> when it is to be started
        self._started: dict[str, float] = {}
        self._backoff: dict[str, float] = {}
        self._events: queue.SimpleQueue[str] = queue.SimpleQueue()

    def start_due(self, environment: Mapping[str, str]) -> None:
        """Starts those whose time has come, in order; who comes after one that tells something waits for it."""
        now, known = time.monotonic(), dict(environment)
        for name, child in self._children.items():
            if self._due.get(name, now + 1) <= now:
                del self._due[name]
                self._started[name] = now
                self._watch(name, child.start(self._folder, known))
            told = child.told()
            if told is None and now - self._started.get(name, now) < TELL_PATIENCE:
                return
            known |= _merged(known, told or {})

    def wait(self, seconds: float) -> None:
        """Comes back after so many seconds, or sooner when a child has ended or `wake` was called."""
        try:
            name = self._events.get(timeout=seconds)
        except queue.Empty:
            return
        if name:
            self._plan_again(name)

    def wake(self) -> None:
        self._events.put("")

    def renew(self, *names: str) -> None:
        """Ends these (all, if none is named), so that they are started anew."""
        for name in names or self._children:
            self._children[name].ask_to_end()

    def end(self) -> None:
        for child in self._children.values():
            child.ask_to_end()
        for child in self._children.values():
            child.wait_ended()

    def _watch(self, name: str, holder: subprocess.Popen[bytes]) -> None:
        def wait() -> None:
            holder.wait()
            self._events.put(name)

        threading.Thread(target=wait, daemon=True).start()

    def _plan_again(self, name: str) -> None:
        now, child = time.monotonic(), self._children[name]
        code = child.holder.returncode if child.holder else 0
        if child.once:
            if code:
                self._say(f"{name} ended (exit code {code}); it is tried again at the next start.")
            return
        lived = now - self._started[name]
        pause = (
            FIRST_BACKOFF if lived > LIVED_WELL else min(self._backoff.get(name, FIRST_BACKOFF / 2) * 2, LAST_BACKOFF)
        )
        self._backoff[name], self._due[name] = pause, now + pause
        self._say(f"{name} ended (exit code {code}); starting it again in {pause:.0f} s.")


def _merged(known: Mapping[str, str], told: Mapping[str, str]) -> dict[str, str]:
    """Lists of names add up, so that the demo's manifests and the operator's own are readable both."""
    lists = {
        name: ",".join(filter(None, [known.get(name) or os.environ.get(name), told[name]]))
        for name in LISTS & told.keys()
    }
    return {**told, **lists}

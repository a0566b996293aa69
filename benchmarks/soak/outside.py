"""The lying provider of the tests, with faults drawn from a seed: the same request meets the same fault every time.

`python -m benchmarks.soak.outside SEED SHARE` prints its port. What a request meets depends on the seed, the customer
and how many of its kind came before it, never on time.
"""

from __future__ import annotations

import contextlib
import json
import random
import signal
import sys
import threading
from collections import Counter, defaultdict
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.world.book import Book, Json, Object
from tests.world.provider import Provider
from tests.world.switches import Board, Switch

# Faults of sends, each as likely as it stands here. Late ones keep to what the tools declare.
OF_SENDS: list[dict[str, Any]] = [
    {"answer": "cut", "book": "never"},
    {"answer": "cut", "book": "before"},
    {"answer": "cut", "book": "after"},
    {"answer": "cut", "book": "late", "late": 0.15},
    {"answer": "close", "book": "never"},
    {"answer": "close", "book": "before"},
    {"answer": "503", "book": "never"},
    {"answer": "503", "book": "before"},
    {"answer": "500", "book": "before"},
    {"answer": "html200", "book": "before"},
    {"answer": "html200", "book": "never"},
    {"answer": "short", "book": "before"},
    {"answer": "cut_chunked", "book": "before"},
    {"answer": "wrong_type", "book": "before"},
    {"answer": "422"},
    {"delay": 0.3},
]
OF_UNDOINGS: list[dict[str, Any]] = [
    {"undo": "refused"},
    {"undo": "lies"},
    {"undo": "error"},
    {"undo": "gone"},
    {"answer": "cut", "book": "before"},
    {"answer": "cut", "book": "never"},
    {"answer": "503", "book": "before"},
]
OF_LOOKS: list[dict[str, Any]] = [
    {"answer": "503"},
    {"answer": "cut"},
    {"answer": "html200"},
    {"answer": "404"},
]
BY_METHOD = {"POST": OF_SENDS, "DELETE": OF_UNDOINGS, "GET": OF_LOOKS}
OF_A_LOOK = 1 / 3  # as often as of sends: many looks follow one send


class Drawn(Board):
    def __init__(self, seed: str, share: float) -> None:
        super().__init__()
        self._seed, self._share = seed, share
        self._met: Counter[tuple[str, str]] = Counter()
        self._names: dict[str, str] = {}  # of what was asked for under a reference
        self._counting = threading.Lock()

    def plan(self, method: str, target: str, body: bytes) -> Switch:
        with self._counting:
            about = self._about(method, target, body)
            self._met[method, about] += 1
            number = self._met[method, about]
        draw = random.Random(f"{self._seed} {method} {about} {number}")
        share = self._share * (OF_A_LOOK if method == "GET" else 1.0)
        faults = BY_METHOD.get(method, [])
        plan = Switch(**draw.choice(faults)) if faults and draw.random() < share else Switch()
        plan.book = plan.book or ("never" if plan.answer in ("422", "503", "404") else "before")
        return plan

    def _about(self, method: str, target: str, body: bytes) -> str:
        """Which thing of which customer it is about: keys and ids are others in each soak."""
        url = urlsplit(target)
        if method == "POST":
            with contextlib.suppress(ValueError, AttributeError):
                asked = json.loads(body)
                self._names[str(asked.get("reference"))] = f"{url.path} {asked.get('email')}"
                return self._names[str(asked.get("reference"))]
        reference = parse_qs(url.query).get("reference", [""])[0]
        return self._names.get(reference, url.path)


class Indexed(Book):
    """Finds by reference without reading everything: twenty thousand objects are searched for at every look."""

    def __init__(self) -> None:
        super().__init__()
        self._by_reference: dict[tuple[str, str], list[Object]] = defaultdict(list)

    def write(self, thing: Object, body: dict[str, Json] | None) -> None:
        with self.lock:
            if thing.id not in self.objects:
                self._by_reference[thing.collection, thing.reference].append(thing)
            super().write(thing, body)

    def find(self, collection: str, wanted: dict[str, str], *args: Any, **options: Any) -> list[dict[str, Json]]:
        with self.lock:
            whole, self.objects = self.objects, {o.id: o for o in self._by_reference[collection, wanted["reference"]]}
            try:
                return super().find(collection, wanted, *args, **options)
            finally:
                self.objects = whole

    def _attempt(self, collection: str, key: str, reference: str) -> int:
        return len(self._by_reference[collection, reference]) + 1


def main(seed: str, share: float) -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    provider = Provider()
    provider.book, provider.board = Indexed(), Drawn(seed, share)
    with provider:
        print(provider.port, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))

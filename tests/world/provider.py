"""A stateful HTTP provider that lies on demand and keeps the truth: for tests, in their process or as its own.

`with Provider() as world:` or `python -m tests.world.provider --port 0` (prints its port; remote.py is its client).
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import signal
import threading
from http import HTTPStatus
from typing import Any, Self

from tests.world import answers
from tests.world.api import Json, Reply
from tests.world.book import Book, Object, Wire
from tests.world.gates import Gate, Gathering
from tests.world.operations import Operations
from tests.world.server import Server
from tests.world.switches import FAILURES, Board, Switch


class Provider:
    """POST /contacts, GET|DELETE /contacts?reference=K, GET|PUT|PATCH|DELETE /contacts/{id}; others likewise."""

    def __init__(self, port: int = 0) -> None:
        self.book = Book()
        self.board = Board()
        self.gathering = Gathering()
        self.operations = Operations()
        self.stopped = threading.Event()
        self.faults: list[BaseException] = []  # our own bugs; `stop` raises the first
        self._gates: list[Gate] = []
        self._server = Server(port, self)
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def stop(self) -> None:
        """Ends every held, silent and open connection."""
        self.stopped.set()
        for gate in self._gates:
            gate.release(book=False)
        self._server.shutdown()
        self._server.server_close()
        self._server.close_connections()
        if self.faults:
            raise self.faults[0]

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def script(self, **fields: Any) -> None:
        """The next `times` (1) matching requests behave as these fields of Switch say."""
        plan = Switch(**fields)
        answers.ready(plan)
        self.board.add(plan)

    def clear(self) -> None:
        self.board.clear()

    def hold(
        self, path: str, method: str = "POST", *, containing: str = "", where: str = "before", times: int = 1
    ) -> Gate:
        """A barrier: `gate.arrived()`, then `gate.release()`. `where`: before booking, or "booked" but unanswered."""
        gate = Gate(method=method, path=path, containing=containing, where=where, times=times)
        self._gates.append(gate)
        return gate

    def together(self, n: int, path: str = "/", method: str = "POST") -> None:
        """The next n matching calls are answered only once all n are inside."""
        self.script(method=method, path=path, together=n, times=n)

    def slam(self, times: int = 1) -> None:
        """The next connections are accepted and reset before a byte is read."""
        self._server.slams += times

    def plant(self, collection: str, **body: Json) -> str:
        """Somebody else's object; its id."""
        thing = self.book.draft(collection, "", body, foreign=True)
        self.book.write(thing, body)
        return thing.id

    @property
    def oracle(self) -> dict[str, Any]:
        """{"objects": [...], "deleted": [...], "wire": [...]}: the truth, in order of arrival."""
        return self.book.oracle()

    def objects(self, collection: str = "", **body: Json) -> list[Object]:
        """What exists now, by fields of its body."""
        with self.book.lock:
            there = [o for o in self.book.objects.values() if o.body is not None and collection in ("", o.collection)]
            return [o for o in there if all((o.body or {}).get(name) == value for name, value in body.items())]

    def wire(self, method: str = "", path: str = "") -> list[Wire]:
        """Requests as they arrived."""
        with self.book.lock:
            return [w for w in self.book.wire if method in ("", w.method) and w.target.startswith(path)]

    def make(self, reply: Reply, wire: Wire, plan: Switch) -> None:
        """Does what this reply speaks of, and remembers it under its key, as far as this provider does."""
        if reply.change:
            reply.change()
        failed = plan.answer in FAILURES
        if reply.status >= HTTPStatus.BAD_REQUEST or (failed and plan.keys == "success"):
            self.forget(reply, wire)
        elif remembered := reply.remembered:
            if failed and plan.keys == "executed":
                reply = Reply(status=int(plan.answer), body={"error": "it broke the first time"})
            remembered.reply = reply
            remembered.done.set()

    def forget(self, reply: Reply, wire: Wire) -> None:
        """Nothing was done, so nothing is kept under the key: the next request with it is a first one."""
        if reply.remembered:
            with self.book.lock:
                self.book.keys.pop((wire.target.strip("/"), wire.key), None)
            reply.remembered.done.set()

    def pass_gates(self, where: str, wire: Wire, body: bytes) -> bool:
        return all(gate.pass_through(where, wire.method, wire.target, body) for gate in list(self._gates))

    def control(self, method: str, path: str, body: Json) -> tuple[int, Json]:
        """The HTTP door for tests in other processes: `/_oracle`, `/_switch`, `/_hold`, `/_plant`, `/_slam`."""
        match method, path.strip("/").split("/"):
            case "GET", ["_oracle"]:
                return 200, self.oracle
            case "POST", ["_switch"]:
                try:
                    self.script(**(body or {}))
                except (TypeError, ValueError) as error:
                    names = ", ".join(f.name for f in dataclasses.fields(Switch))
                    return 400, {"error": f"{error}; the fields are {names}"}
                return 201, {}
            case "DELETE", ["_switch"]:
                self.clear()
                return 200, {}
            case "POST", ["_plant"]:
                return 201, {"id": self.plant(body.pop("collection"), **body)}
            case "POST", ["_slam"]:
                self.slam(body["times"])
                return 201, {}
            case "POST", ["_hold"]:
                self.hold(**body)
                return 201, {"id": len(self._gates) - 1}
            case "POST", ["_hold", number, "wait"]:
                return 200, {"arrived": self._gates[int(number)].arrived(**body)}
            case "POST", ["_hold", number, "release"]:
                self._gates[int(number)].release(**body)
                return 200, {}
            case _:
                return 404, {"error": f"no such control: {method} {path}"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with Provider(arguments.port) as provider:
        print(provider.port, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            provider.stopped.wait()


if __name__ == "__main__":
    main()

"""A small audience service: who is on which list. It knows no keys; a member's place is its own natural key.

`PUT|GET|DELETE /audiences/{list}/members/{contact}` with `{"email", "mark"}`; a second PUT overwrites, as real ones do.
"""

from __future__ import annotations

import json
from pathlib import Path

from examples.outside.store import Store
from examples.outside.web import Answer, Request, answer_json, page


class Audience:
    def __init__(self, folder: Path) -> None:
        self._store = Store(folder / "audience.sqlite3")

    def about(self, request: Request) -> str:
        return json.dumps(self._store.get("member", request.path))

    def handle(self, request: Request, *, stale: bool) -> Answer:
        match request.method, request.path.strip("/").split("/"):
            case "GET", [""]:
                rows = [
                    (m["list"], m["contact"], m.get("email", ""), m.get("mark", "")) for m in self._store.find("member")
                ]
                return page("Audiences", ("List", "Contact", "E-mail", "Mark"), rows)
            case "PUT", ["audiences", name, "members", contact]:
                with self._store:
                    known = self._store.get("member", request.path)
                    member = {**request.json(), "list": name, "contact": contact}
                    self._store.put("member", request.path, member)
                return answer_json(200 if known else 201, member)
            case "GET", ["audiences", _, "members", _]:
                found = self._store.get("member", request.path, stale=stale)
                return answer_json(200, found) if found else answer_json(404, {"error": "Not on this list."})
            case "GET", ["audiences", name, "members"]:
                return answer_json(200, {"items": self._store.find("member", stale=stale, list=name)})
            case "DELETE", ["audiences", _, "members", _]:
                with self._store:
                    if self._store.get("member", request.path) is None:
                        return answer_json(404, {"error": "Not on this list."})
                    self._store.put("member", request.path, None)
                return Answer(status=204)
            case _:
                return answer_json(404, {"error": f"Nothing is at {request.method} {request.path}."})

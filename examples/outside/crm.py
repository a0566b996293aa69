"""A small CRM: contacts, and their activation, which a credit check may refuse. It honours Idempotency-Key.

`POST /contacts`, `GET /contacts?reference=`, `GET|DELETE /contacts/{id}`, `POST|GET|DELETE /contacts/{id}/activation`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from examples.outside.store import Store
from examples.outside.web import Answer, Request, answer_json, page

NO_CONTACT = {"error": "There is no such contact."}


class Crm:
    def __init__(self, folder: Path) -> None:
        self._store = Store(folder / "crm.sqlite3")

    def about(self, request: Request) -> str:
        number = _path(request)[1:2]
        return json.dumps(self._store.get("contact", number[0])) if number else ""

    def handle(self, request: Request, *, stale: bool) -> Answer:
        with self._store:
            match request.method, _path(request):
                case "GET", []:
                    return self._page()
                case "POST", ["contacts"]:
                    return self._create(request)
                case "GET", ["contacts"]:
                    return answer_json(200, {"items": self._store.find("contact", stale=stale, **request.query)})
                case _, ["contacts", number]:
                    return self._contact(request, number, stale)
                case _, ["contacts", number, "activation"]:
                    return self._activation(request, number, stale)
                case _:
                    return answer_json(404, {"error": f"Nothing is at {request.method} {request.path}."})

    def _create(self, request: Request) -> Answer:
        fields = request.json()
        email = fields.get("email")
        if not isinstance(email, str) or "@" not in email:
            return answer_json(422, {"error": f"email: {email!r} is no address."})
        if known := self._replayed(request):
            return known
        contact = {**fields, "id": self._store.new_name("contact", "C")}
        self._store.put("contact", contact["id"], contact)
        return self._remember(request, 201, contact)

    def _contact(self, request: Request, number: str, stale: bool) -> Answer:
        if known := self._replayed(request):
            return known
        contact = self._store.get("contact", number, stale=stale)
        match request.method:
            case _ if contact is None:
                return answer_json(404, NO_CONTACT)
            case "GET":
                return answer_json(200, contact)
            case "DELETE" if self._store.get("activation", number):
                dependants = [f"/contacts/{number}/activation"]
                return answer_json(409, {"error": "The contact is active.", "dependants": dependants})
            case "DELETE":
                self._store.put("contact", number, None)
                return self._remember(request, 200, {"deleted": number})
            case _:
                return answer_json(405, {"error": "GET or DELETE"})

    def _activation(self, request: Request, number: str, stale: bool) -> Answer:
        if known := self._replayed(request):
            return known
        found = self._store.get("activation", number, stale=stale)
        match request.method:
            case _ if self._store.get("contact", number) is None:
                return answer_json(404, NO_CONTACT)
            case "POST":
                activation = {**request.json(), "id": f"A-{number}", "contact": number, "state": "active"}
                self._store.put("activation", number, activation)
                return self._remember(request, 201, activation)
            case _ if found is None:
                return answer_json(404, {"error": "The contact isn't active."})
            case "GET":
                return answer_json(200, found)
            case "DELETE":
                self._store.put("activation", number, None)
                return self._remember(request, 200, {"deactivated": number})
            case _:
                return answer_json(405, {"error": "GET, POST or DELETE"})

    def _replayed(self, request: Request) -> Answer | None:
        """The first answer under this key, again; 422 where the key came with another request."""
        key = request.headers.get("idempotency-key")
        known = self._store.get("key", key) if key else None
        if not known:
            return None
        if known["request"] != _digest(request):
            return answer_json(422, {"error": "This Idempotency-Key came with another request before."})
        return answer_json(known["status"], known["body"], {"Idempotent-Replayed": "true"})

    def _remember(self, request: Request, status: int, body: dict[str, Any]) -> Answer:
        if key := request.headers.get("idempotency-key"):
            self._store.put("key", key, {"request": _digest(request), "status": status, "body": body})
        return answer_json(status, body)

    def _page(self) -> Answer:
        active = {a["contact"] for a in self._store.find("activation")}
        rows = [
            (c["id"], c["email"], c.get("company", ""), "active" if c["id"] in active else "", c.get("reference", ""))
            for c in self._store.find("contact")
        ]
        return page("CRM", ("Contact", "E-mail", "Company", "State", "Reference"), rows)


def _path(request: Request) -> list[str]:
    return [part for part in request.path.split("/") if part]


def _digest(request: Request) -> str:
    return json.dumps([request.method, request.path, request.json()], sort_keys=True)

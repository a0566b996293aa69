"""An agent as it is outside: it knows an address and a key, and speaks JSON over HTTP, nothing else."""

from __future__ import annotations

import io
import itertools
import json
from typing import Any

from django.core.management import call_command
from django.test import Client

_numbers = itertools.count(1)
Json = dict[str, Any]


class Agent:
    """Made by `create_agent`, as an operator would."""

    def __init__(self, name: str = "onboarder", tools: str = "*", workflows: str = "*") -> None:
        told = io.StringIO()
        call_command("create_agent", name, "--tools", tools, "--workflows", workflows, "--json", stdout=told)
        self.name = name
        self._key = json.loads(told.getvalue())["key"]
        self._client = Client()

    def post(self, path: str, body: Any = None, *, key: str = "") -> tuple[int, Json]:
        headers = {"Authorization": f"Bearer {self._key}", **({"Idempotency-Key": key} if key else {})}
        data = json.dumps({} if body is None else body)
        answer = self._client.post(f"/api/v1/{path}", data, content_type="application/json", headers=headers)
        return answer.status_code, json.loads(answer.content)

    def get(self, path: str) -> Json:
        answer = self._client.get(f"/api/v1/{path}", headers={"Authorization": f"Bearer {self._key}"})
        assert answer.status_code == 200, answer.content
        found: Json = json.loads(answer.content)
        return found

    def start(self, workflow: str | None = "onboarding", *, key: str = "", email: str = "", **body: Any) -> str:
        """Starts a run for a customer of its own, unless told otherwise; its id."""
        n = next(_numbers)
        asked: Json = {"subject": {"type": "customer", "id": f"c{n}", "label": f"Customer {n}"}, **body}
        if workflow is not None:
            asked |= {"workflow": workflow, "input": {"email": email or f"c{n}@acme.example", **body.get("input", {})}}
        status, run = self.post("runs", asked, key=key or f"start-{n}")
        assert status == 201, run
        return str(run["id"])

    def step(self, run: str, name: str, tool: str, **arguments: Any) -> Json:
        status, made = self.post(f"runs/{run}/steps", {"name": name, "tool": tool, "arguments": arguments})
        assert status == 202, made
        return made

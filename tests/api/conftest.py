"""What API tests share: tools that act in memory, an agent that holds a key, and a client that speaks for it."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
from django.test import Client

from tests.engine import simulated
from workflows import toolbox, waiting
from workflows.authority.keys import make_key
from workflows.making import canonical_digest
from workflows.models import Agent, Tool, Workflow

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse

Answer: TypeAlias = "_MonkeyPatchedWSGIResponse"

_numbers = itertools.count(1)


class Caller:
    """An agent's client: `post(path, body)` and `get(path)` below /api/v1/ with its key."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.key = make_key(agent)
        self.client = Client()

    def post(self, path: str, body: Any = None, *, key: str | None = "new", **headers: str) -> Answer:
        """`body`: JSON, or bytes to be sent as they are. `key`: "new" makes one up, None sends none."""
        data = body if isinstance(body, bytes) else json.dumps({} if body is None else body).encode()
        if key is not None:
            headers["Idempotency-Key"] = f"key-{next(_numbers)}" if key == "new" else key
        kind = headers.pop("Content-Type", "application/json")
        return self.client.generic("POST", f"/api/v1/{path}", data, kind, headers=self._signed(headers))

    def get(self, path: str, **headers: str) -> Answer:
        return self.client.get(f"/api/v1/{path}", headers=self._signed(headers))

    def start(self, **body: Any) -> dict[str, Any]:
        """A new run, by default one whose step acts in memory."""
        n = next(_numbers)
        asked = {"workflow": "sim", "subject": {"type": "customer", "id": f"c{n}", "label": "Acme"}, **body}
        answer = self.post("runs", {name: value for name, value in asked.items() if value is not None})
        assert answer.status_code == 201, answer.content
        return read(answer)

    def _signed(self, headers: dict[str, str]) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}", **headers}


def read(answer: Answer) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer.content)
    return found


def problem(answer: Answer) -> tuple[int, str, list[str]]:
    """Status, code, and the paths of its flaws."""
    assert answer.headers["Content-Type"] == "application/problem+json", answer.content
    body = read(answer)
    assert body["status"] == answer.status_code
    assert body["detail"]
    return answer.status_code, body["code"], [flaw["path"] for flaw in body.get("errors", [])]


@pytest.fixture
def declared(db: None) -> Iterator[None]:
    """The tool sim.act and the workflow `sim`, whose one step uses it."""
    declare()
    simulated.fresh()
    yield
    toolbox.forget()


def declare() -> None:
    schema = {"type": "object", "properties": {"amount": {"type": "integer"}}, "additionalProperties": False}
    spec = {**simulated.spec(), "arguments": schema}
    Tool.objects.create(
        name="sim.act", version=1, kind="python", digest=canonical_digest(spec), spec=spec, owner="sim-desk"
    )
    steps = [{"name": "act", "tool": "sim.act", "after": [], "arguments": {}}]
    flow = {
        "version": 1,
        "owner": "sim-desk",
        "on_failure": "compensate",
        "after_irreversible": "hold",
        "deadline": 600.0,
        "gate": "none",
        "input": {"type": "object"},
        "steps": steps,
    }
    Workflow.objects.create(name="sim", version=1, digest=canonical_digest(flow), spec=flow, owner="sim-desk")


@pytest.fixture
def caller(declared: None) -> Caller:
    return Caller(Agent.objects.create(name="sim", tools=["*"], workflows=["*"]))


@pytest.fixture
def other(declared: None) -> Caller:
    return Caller(Agent.objects.create(name="other", tools=["*"], workflows=["*"]))


@pytest.fixture
def ear(caller: Caller) -> Iterator[waiting.Ear]:
    """The listening thread of this process, ended with the test."""
    yield waiting.ear
    waiting.ear.close()


def poll(true: Callable[[], object]) -> None:
    """Until it is true; far longer than any healthy machine takes."""
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.01)

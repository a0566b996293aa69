"""A run as one look showed it: the bytes, their tag, and whether a client that knows other bytes should be told now."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Mapping

from django.http import HttpResponse

from workflows import reading
from workflows.api import headers, wire
from workflows.authority.keys import check_again
from workflows.models import Agent
from workflows.states import Phase, RunState


@dataclasses.dataclass(frozen=True, slots=True)
class Seen:
    body: bytes
    tag: str
    settled: bool  # over or stuck: nothing will change by itself

    def enough(self, known: list[str], first: Seen) -> bool:
        """Whether to answer rather than wait: for other than what the client knows, else for a change since `first`."""
        if known:
            return not headers.matches(self.tag, known)
        return self.settled or self.tag != first.tag

    def answer(self, known: list[str], more: Mapping[str, str] | None = None) -> HttpResponse:
        """The run, or 304 to a client that knows it like this."""
        if not headers.matches(self.tag, known):
            return self.respond(200, more)
        response = HttpResponse(status=304, headers={"ETag": self.tag, **(more or {})})
        del response.headers["Content-Type"]
        wire.keep_private(response)
        return response

    def respond(self, status: int, more: Mapping[str, str] | None = None) -> HttpResponse:
        """Whatever the call was, its answer is the run as GET shows it; so its tag is good for the next wait."""
        return wire.respond_bytes(self.body, status=status, headers={"ETag": self.tag, **(more or {})})


def look_again(agent: Agent, run_id: uuid.UUID) -> Seen:
    """For who waits: the key may have been taken away meanwhile. Raises Unauthenticated too."""
    check_again(agent)
    return look(agent, run_id)


def look(agent: Agent, run_id: uuid.UUID) -> Seen:
    """Raises NotFound."""
    run = reading.run_of(agent, run_id)
    body = wire.dumps(reading.run_in_full(run))
    return Seen(body, wire.tag(body), run.phase == Phase.OVER or run.state == RunState.STUCK)

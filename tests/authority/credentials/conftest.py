"""What the tests of credentials share: a real authorization server, and a tool that needs its tokens."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.authority.credentials.crm import TOOL
from tests.authority.oauth_server import Server, serving
from workflows import catalog, toolbox
from workflows.authority import credentials
from workflows.models import Agent
from workflows.tools.manifest import load_texts


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as found:
        credentials._open.clear()
        yield found
        toolbox.forget()


@pytest.fixture
def crm(server: Server, agent: Agent) -> None:
    catalog.apply(load_texts([("m.yaml", TOOL.replace("URL", server.url))]))

"""What the tests of credentials share: a real authorization server, and a tool that needs its tokens."""

from __future__ import annotations

import pytest

from tests.authority.credentials.crm import TOOL
from tests.authority.oauth_server import Server
from workflows import catalog
from workflows.models import Agent
from workflows.tools.manifest import load_texts


@pytest.fixture
def crm(server: Server, agent: Agent) -> None:
    catalog.apply(load_texts([("m.yaml", TOOL.replace("URL", server.url))]))

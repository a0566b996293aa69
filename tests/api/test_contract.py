"""docs/openapi.json is the contract: what the code says of itself, and what is answered whatever is sent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import Client
from hypothesis import HealthCheck, Phase, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from config.house.folder import ROOT
from config.wsgi import application
from tests.api.conftest import Caller

FILE = ROOT / "docs" / "openapi.json"
RENEW = (
    "manage.py spectacular --custom-settings workflows.api.openapi.SETTINGS"
    " --format openapi-json --file docs/openapi.json"
)
# Enough to meet each field's edges; the tables of bad input hold the cases that matter.
EXAMPLES = 12

SIGNALS = (request_started, request_finished)


def in_transaction(environ: dict[str, Any], start_response: Any) -> Any:
    """The application without a socket and inside the test's transaction: its connection must stay open."""
    for signal in SIGNALS:
        signal.disconnect(close_old_connections)
    return application(environ, start_response)


def test_the_page_that_shows_it_needs_nothing_inline(client: Client) -> None:
    page = client.get("/api/v1/docs/").content.decode()
    assert not re.search(r"<style|<script>|\son\w+=|style=|https?://", page)
    scripts = re.findall(r'<script src="([^"]+)"', page)
    assert len(scripts) == page.count("<script")
    script = client.get(scripts[-1].replace("&amp;", "&"))
    assert (script.status_code, script.headers["Content-Type"]) == (200, "application/javascript")


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    yield
    for signal in SIGNALS:
        signal.connect(close_old_connections)


contract: Any = schemathesis.openapi.from_path(FILE)
contract.app = in_transaction


def test_the_published_contract_is_what_the_code_says() -> None:
    answer = Client().get("/api/v1/schema/")
    assert answer.headers["Content-Type"] == "application/json"
    assert json.loads(answer.content) == json.loads(FILE.read_text()), f"renew it: {RENEW}"


@contract.parametrize()  # type: ignore[untyped-decorator]
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_one_that_the_contract_knows(case: schemathesis.Case[Any], caller: Caller) -> None:
    if "run_id" in case.path_parameters and case.meta and case.meta.generation.mode.is_positive:
        case.path_parameters["run_id"] = caller.start(workflow=None, open=True)["id"]
    # A text that fits its schema may still name no workflow, tool or cursor.
    case.call_and_validate(
        headers={"Authorization": f"Bearer {caller.key}"}, excluded_checks=[positive_data_acceptance]
    )

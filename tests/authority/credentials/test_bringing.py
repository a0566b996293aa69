"""What an operator brings: a grant is checked whole, and never shown."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.authority.oauth_server import Server
from workflows.authority.bringing import Brought, bring
from workflows.drain import drain_once
from workflows.models import Credential

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_what_an_operator_brings_is_checked_whole(server: Server, db: None, tmp_path: Any) -> None:
    bad: tuple[tuple[dict[str, Any], str], ...] = (
        ({"token_url": "ftp://x"}, "--token-url"),
        ({"token_url": "https://user:hidden-password@host/token"}, "--token-url"),
        ({"client": ""}, "--client"),
        ({"secret": "the secret itself"}, "--client-secret"),
        ({"refresh": "two words"}, "the refresh token"),
    )
    for change, path in bad:
        whole = {"refresh": "r", "token_url": "https://host/token", "client": "c", **change}
        with pytest.raises(Exception, match=path) as refused:
            bring("CRM", Brought(**whole), by="command:ops", why="x")
        assert "hidden-password" not in str(refused.value)
        assert "two words" not in str(refused.value)
    with pytest.raises(Exception, match="NAME"):
        bring("crm", Brought(refresh="r", token_url="https://host/token", client="c"), by="command:ops", why="x")
    assert not Credential.objects.exists()


def test_the_command_brings_a_grant_from_a_file_and_lists_it(server: Server, db: None, tmp_path: Any) -> None:
    file = tmp_path / "refresh"
    file.write_text("refresh-0\n")
    out = io.StringIO()
    words = ["--token-url", f"{server.url}/token", "--client", "c", "--refresh-token", str(file), "--why", "first"]
    call_command("credential", "CRM", *words, "--json", stdout=out)
    assert json.loads(out.getvalue())["state"] == "ready"
    drain_once()
    out = io.StringIO()
    call_command("credential", stdout=out)
    assert out.getvalue() == "CRM  ready  operations\n"
    with pytest.raises(CommandError, match="Say which grant"):
        call_command("credential", "CRM")
    with pytest.raises(CommandError, match="--refresh-token /nowhere"):
        call_command("credential", "CRM", "--refresh-token", "/nowhere", "--why", "x")

"""Secrets come from providers that the operator chooses, and each operation of a tool may have its own."""

from __future__ import annotations

import pytest

from tests.tools.calls import PROFILE, call, tool
from tests.tools.servers import RawServer, answer
from workflows.outcomes import Acknowledged, NotSent, Verdict
from workflows.tools import providers
from workflows.tools.wire.exchange import forget

DEFAULT = ["workflows.tools.providers.Environment", "workflows.tools.providers.Files"]


class Vault:
    """As an installation's own class would be."""

    def get(self, name: str) -> str | None:
        return {"WRITE": "from-the-vault"}.get(name)

    def place(self, name: str) -> str:
        return f"the vault's {name}"


@pytest.fixture(autouse=True)
def _as_it_was() -> None:
    providers.use(DEFAULT)


def test_providers_are_asked_in_their_order(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("MAKEGOOD_SECRET_WRITE", "from-the-environment")
    try:
        providers.use([f"{__name__}.Vault", *DEFAULT])
        assert providers.secret("WRITE") == "from-the-vault"
        assert providers.places("NONE") == ("the vault's NONE or MAKEGOOD_SECRET_NONE or MAKEGOOD_SECRET_NONE_FILE")
    finally:
        providers.use(DEFAULT)
    assert providers.secret("WRITE") == "from-the-environment"


def test_a_provider_that_is_not_there_is_named() -> None:
    for path in ("workflows.tools.nowhere.Vault", "workflows.tools.providers.Nobody", "vault"):
        with pytest.raises(ImportError, match=f"MAKEGOOD_SECRET_PROVIDERS names {path}"):
            providers.use([path])
    assert providers.places("A") == "MAKEGOOD_SECRET_A or MAKEGOOD_SECRET_A_FILE"


def test_a_folder_of_mounted_files_is_read_anew_each_time(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("MAKEGOOD_SECRETS", str(tmp_path))
    assert providers.secret("CRM") is None
    with open(f"{tmp_path}/CRM", "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write("first\n")
    assert providers.secret("CRM") == "first"
    with open(f"{tmp_path}/CRM", "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write("second")
    assert providers.secret("CRM") == "second"


THREE = """
tools:
  t.t:
    version: 1
    kind: http
    profile: %s
    idempotency: {by: none}
    execute: {method: POST, url: "%s/things", auth: {bearer: "${ secret('WRITE') }"}, result: {id: "${ body.id }"}}
    verify: {url: "%s/things", auth: {bearer: "${ secret('READ') }"}, result: {id: "${ body.id }"},
             found: "status == 200", absent: "status == 404"}
    compensate:
      method: DELETE
      url: "%s/things/${ result.id }"
      auth: {basic: {username: "undo", password: "${ secret('UNDO') }"}}
      verify: {url: "%s/things", auth: {bearer: "${ secret('READ') }"}, found: "status == 404", absent: "status == 200"}
"""


def test_reading_and_undoing_have_credentials_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look never carries the writing secret, and evidence carries none."""
    for name in ("WRITE", "READ", "UNDO"):
        monkeypatch.setenv(f"MAKEGOOD_SECRET_{name}", f"value-of-{name.lower()}")
    yes = answer(b'{"id": 7}') + b""
    echo = answer(b'{"id": 7, "you": "value-of-read"}')
    with RawServer([yes], [echo], [answer(b"", 204)], [answer(b"{}", 404)]) as server:
        made = tool(THREE % (PROFILE % "reversible", *[server.url] * 4))
        undo = call("compensate", result={"id": 7})
        told = []
        for ask, of in ((made.send, call()), (made.look, call()), (made.send, undo), (made.look, undo)):
            told.append(ask(of))
            forget()
    assert isinstance(told[0], Acknowledged)
    assert told[1].verdict is Verdict.FOUND  # type: ignore[union-attr]
    carried = [line for request in server.requests for line in request.decode().split("\r\n") if "uthorization" in line]
    assert [line.partition(" ")[2].partition(" ")[2] for line in carried[:2]] == ["value-of-write", "value-of-read"]
    assert "Basic" in carried[2]
    assert "value-of-read" in carried[3]
    assert not any(f"value-of-{name}" in repr(told) for name in ("write", "read", "undo"))


def test_a_secret_that_is_not_set_holds_the_send_back_and_says_where_to_put_it() -> None:
    made = tool(THREE % (PROFILE % "reversible", *["http://127.0.0.1:1"] * 4))
    told = made.send(call())
    assert isinstance(told, NotSent)
    assert "set MAKEGOOD_SECRET_WRITE or MAKEGOOD_SECRET_WRITE_FILE" in told.reason

"""Drafts of requests: what a person is shown is what the tool then sends, but for secrets."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.tools.calls import call, http_tool, tool
from tests.tools.test_manifest import CONTACT
from tests.world.provider import Provider
from workflows.outcomes import Acknowledged
from workflows.tools.base import Tool
from workflows.tools.http.answers import evidence
from workflows.tools.http.literals import in_spec
from workflows.tools.http.requests import prepare
from workflows.tools.manifest import load_texts
from workflows.tools.registry import build
from workflows.tools.wire.exchange import forget


@pytest.fixture
def world() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider
        forget()


@pytest.fixture
def contact(world: Provider, monkeypatch: pytest.MonkeyPatch) -> Tool:
    monkeypatch.setenv("MAKEGOOD_ENV", "CRM_URL, OTHER")
    monkeypatch.setenv("CRM_URL", world.url)
    spec = load_texts([("m.yaml", CONTACT)]).tools["crm.create_contact"]
    return build("crm.create_contact", "http", spec)


def test_a_draft_is_another_request_than_the_one_that_is_sent(
    world: Provider, contact: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (draft,) = contact.draft(call())  # no secret is set: none is asked for
    assert world.wire("POST") == []
    monkeypatch.setenv("MAKEGOOD_SECRET_CRM", "s3cr3t-value")
    sent = contact.send(call())
    assert isinstance(sent, Acknowledged)
    (wire,) = world.wire("POST")
    assert draft.line == f"POST {world.url}{wire.target}"
    assert json.loads(draft.body) == wire.body
    shown = {name.lower(): value for name, value in draft.headers}
    assert shown.pop("authorization") == "Bearer [secret CRM]"
    assert shown == {name: wire.headers[name] for name in shown}
    assert draft.digest == sent.evidence["request"]["digest"]

    undo = call("compensate", result=dict(sent.result))
    (draft,), (look,) = contact.draft(undo), contact.draft_look(undo)
    undone = contact.send(undo)
    assert draft.digest == undone.evidence["request"]["digest"]
    assert (draft.line.split()[0], look.line.split()[0], look.reads) == ("DELETE", "GET", True)


@pytest.mark.parametrize(
    ("auth", "shown"),
    [
        ("auth: {bearer: a-literal-key}", "Bearer [hidden]"),
        ("auth: {basic: {username: \"${ secret('U') }\", password: literal}}", "Basic [hidden]"),
        ("headers: {X-Api-Key: a-literal-key}", "[hidden]"),
        ("auth: {oauth: CRM}", "Bearer [token of CRM]"),
        ("headers: {X-Api-Key: \"${ secret('K') }\"}", "[secret K]"),
    ],
)
def test_a_draft_shows_a_credential(auth: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("U", "K"):
        monkeypatch.setenv(f"MAKEGOOD_SECRET_{name}", "s3cr3t-value")
    (draft,) = http_tool("https://p.example", execute=auth).draft(call())
    assert shown in dict(draft.headers).values()
    assert "s3cr3t" not in repr(draft)
    assert "literal" not in repr(draft)


IN_CLEAR = """
tools:
  t.t:
    version: 1
    kind: http
    profile: {effect_class: irreversible, access: write, environment: trusted, observability: none, autonomy: auto,
      privileges: [], owner: desk, customer_visible: false, residue: ""}
    idempotency: {by: none}
    arguments: {type: object, additionalProperties: true}
    execute:
      method: POST
      url: "https://p.example/things?apikey=clear-1&page=2&token=${ args.token }"
      %s
"""
BODY = """json:
        {api_key: clear-2, nested: [{clientSecret: clear-3, note: clear-2}], password: "${ args.password }", pin: 4}"""
FORM = """multipart:
        [{name: api_token, value: clear-4}, {name: note, value: clear-4}, {name: secret, value: "${ key }"}]"""


def test_a_credential_that_a_manifest_holds_in_clear_is_shown_or_what_an_argument_brought_is_hidden() -> None:
    """Told by its name, and only where it stands in the manifest: the rest is what people decide about."""
    made = tool(IN_CLEAR % BODY)
    (draft,) = made.draft(call(arguments={"token": "tok-of-a-card", "password": "wanted"}))
    assert draft.line == "POST https://p.example/things?apikey=[hidden]&page=2&token=tok-of-a-card"
    assert json.loads(draft.body) == {
        "api_key": "[hidden]",
        "nested": [{"clientSecret": "[hidden]", "note": "clear-2"}],
        "password": "wanted",
        "pin": 4,
    }
    told = repr(in_spec(made.spec))
    assert ("clear-1" in told, "clear-3" in told, "page=2" in told, "args.token" in told) == (False, False, True, True)


@pytest.mark.parametrize("name", ["X-Token", "X-Shop-Access-Token", "Private-Token", "Client-Secret"])
def test_a_header_of_a_house_s_own_name_shows_a_credential_in_clear(name: str) -> None:
    made = tool(IN_CLEAR % f'headers: {{{name}: clear-5, X-Asked: clear-5, X-Their-Token: "${{ args.token }}"}}')
    (draft,) = made.draft(call(arguments={"token": "of-a-card"}))
    shown = dict(draft.headers)
    assert (shown[name], shown["X-Asked"], shown["X-Their-Token"]) == ("[hidden]", "clear-5", "of-a-card")
    assert in_spec(made.spec)["execute"]["headers"][name] == "[hidden]"


def test_a_draft_that_cannot_be_made_shows_a_credential_in_clear() -> None:
    made = tool(IN_CLEAR % 'json: {password: "clear-6", note: "${ args.missing }"}')
    (draft,) = made.draft(call(arguments={"token": "t"}))
    assert "missing" in draft.flaw
    assert draft.line.startswith("POST https://p.example/things?apikey=[hidden]&page=2")
    assert "clear-" not in repr(draft)


def test_a_credential_in_clear_is_kept_with_what_a_send_proves() -> None:
    made = tool(IN_CLEAR % BODY)
    names = {"args": {"token": "tok-of-a-card", "password": "wanted"}, "key": "k"}
    kept = evidence(prepare(made.spec["execute"], names), None, 0.1)
    assert kept["request"]["url"] == "https://p.example/things?apikey=[hidden]&page=2&token=tok-of-a-card"
    assert "clear-" not in repr(kept)


def test_a_form_shows_a_credential_in_clear() -> None:
    made = tool(IN_CLEAR % FORM)
    (draft,) = made.draft(call(arguments={"token": "t"}))
    assert draft.body.count("clear-4") == 1
    assert 'name="api_token"\r\n\r\n[hidden]\r\n' in draft.body
    assert call().key in draft.body
    assert repr(in_spec(made.spec)).count("clear-4") == 1


def test_a_draft_that_cannot_be_made_does_not_say_why(contact: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CRM_URL")
    (draft,) = contact.draft(call())
    assert "CRM_URL" in draft.flaw
    assert draft.digest == ""


def test_an_undoing_that_reads_first_shows_only_its_delete() -> None:
    refund = http_tool(
        "https://p.example",
        effect_class="reversible",
        value='amount: "${ args.amount }", currency: EUR',
        verify='method: GET, url: "https://p.example/x", found: "status == 200", absent: "status == 404"',
        compensate='method: POST, url: "https://p.example/refunds", json: {amount: "${ remaining }"}, '
        'before: {method: GET, url: "https://p.example/x", remaining: "${ body.left }"}, '
        'verify: {method: GET, url: "https://p.example/x", found: "status == 404", absent: "status == 200"}',
    )
    first, then = refund.draft(call("compensate", arguments={"amount": 500}))
    assert (first.reads, first.line) == (True, "GET https://p.example/x")
    assert json.loads(then.body) == {"amount": 500}
    _, then = refund.draft(call("compensate", arguments={"amount": 500}, agreed=200))
    assert json.loads(then.body) == {"amount": 200}

"""Calls and built tools for tests."""

from __future__ import annotations

from typing import Any

from workflows.tools.base import Tool
from workflows.tools.call import Call
from workflows.tools.manifest import load_texts
from workflows.tools.registry import build

KEY = "k" * 26
PROFILE = """{effect_class: %s, access: write, environment: trusted, observability: authoritative_read,
      autonomy: auto, privileges: [], owner: desk, customer_visible: false, residue: ""}"""


def call(operation: str = "execute", **values: Any) -> Call:
    defaults: dict[str, Any] = {
        "operation": operation,
        "key": KEY,
        "arguments": {"email": "a@example.com"},
        "run": {"id": "r1", "external_id": "", "workflow": "w"},
        "subject": {"type": "customer", "id": "c1", "label": ""},
        "input": {},
        "steps": {},
        "result": {},
        "before": {},
        "forward_key": "f" * 26 if operation == "compensate" else "",
        "now": "2026-03-10T12:00:00Z",
    }
    return Call(**{**defaults, **values})


def tool(text: str, name: str = "t.t") -> Tool:
    """The one tool of a manifest, built as the engine builds it."""
    spec = load_texts([("m.yaml", text)]).tools[name]
    return build(name, spec["kind"], spec)


def http_tool(url: str, *, effect_class: str = "irreversible", idempotency: str = "none", **parts: str) -> Tool:
    """A tool of kind http that posts to `url`; `parts` are further lines of YAML for execute, verify and so on."""
    more = ", " + parts.pop("execute") if "execute" in parts else ""
    rest = "\n".join(f"    {name}: {{{text}}}" for name, text in parts.items())
    return tool(f"""
tools:
  t.t:
    version: 1
    kind: http
    profile: {PROFILE % effect_class}
    idempotency: {{by: {idempotency}}}
    arguments: {{type: object, additionalProperties: true}}
    execute: {{method: POST, url: "{url}/things", json: {{a: "${{ args }}"}}, timeout: 3s{more}}}
{rest}
""")

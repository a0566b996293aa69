"""Manifests: the contract's own example loads, and everything that can't work is refused before anything is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workflows.errors import Invalid
from workflows.tools.manifest import Manifest, digest, load, load_texts

CONTACT = """
tools:
  crm.create_contact:
    version: 1
    kind: http
    profile: {effect_class: reversible, access: write, environment: trusted, observability: authoritative_read,
              autonomy: auto, privileges: [crm.write], owner: crm-desk, customer_visible: false,
              residue: "A contact record for ${ args.email } stands in the CRM."}
    idempotency: {by: native_key, retention: 24h}
    scopes: ["crm:contact:${ args.email.lowerAscii() }"]
    value: {amount: "${ args.amount }", currency: "EUR"}
    arguments: {type: object, required: [email], additionalProperties: false,
                properties: {email: {type: string}, amount: {type: integer}}}
    limits: {concurrent: 8, per_minute: 300, breaker: {after: 5, within: 30s}}
    before: {url: "${ env.CRM_URL }/contacts", keep: {title: "${ body.title }"}, version: "${ headers.etag }"}
    execute:
      method: POST
      url: "${ env.CRM_URL }/contacts"
      headers: {Idempotency-Key: "${ key }", Authorization: "Bearer ${ secret('CRM') }"}
      json: {email: "${ args.email }", reference: "${ key }", note: null}
      timeout: 5s
      late: 30s
      acknowledged: "status in [200, 201] && has(body.id)"
      pending: "status == 202"
      poll: {url: "${ headers['operation-location'] }", every: 2s, within: 10m, done: "body.state == 'ok'",
             failed: "body.state == 'failed'", result: {id: "${ body.id }"}}
      temporary: "status == 429"
      refused: "status in [400, 401, 403, 404, 422]"
      result: {id: "${ body.id }"}
    verify:
      method: GET
      url: "${ env.CRM_URL }/contacts?reference=${ key }"
      several: "status == 200 && size(body.items) > 1"
      differs: "status == 200 && size(body.items) == 1 && body.items[0].email != args.email"
      found: "status == 200 && size(body.items) == 1"
      absent: "status == 200 && size(body.items) == 0"
      result: {id: "${ body.items[0].id }"}
      settle: 2s
      every: 5s
      looks: 6
      within: 10m
    compensate:
      method: DELETE
      url: "${ env.CRM_URL }/contacts/${ result.id }"
      acknowledged: "status in [200, 204]"
      verify: {url: "${ env.CRM_URL }/contacts/${ result.id }", found: "status in [404, 410]", absent: "status == 200"}
      window: 90d
      fallbacks: []
      residue: "Staff may have seen the contact before it was removed."
    retry: {attempts: 4, first: 1s, max: 60s, within: 10m}
workflows:
  client-onboarding:
    version: 1
    owner: onboarding-desk
    on_failure: compensate
    after_irreversible: hold
    deadline: 1h
    gate: none
    input: {type: object, required: [customer, email], properties: {customer: {type: string}, email: {type: string}}}
    steps:
      - {name: crm, tool: crm.create_contact, arguments: {email: "${ input.email }"}}
      - {name: audience, tool: crm.create_contact, after: [crm], arguments: {email: "${ steps.crm.result.id }"}}
"""


def loaded(text: str, **options: Any) -> Manifest:
    return load_texts([("m.yaml", text)], env_names={"CRM_URL"}, **options)


def refusal(text: str, **options: Any) -> str:
    with pytest.raises(Invalid) as caught:
        loaded(text, **options)
    return str(caught.value)


def test_the_contracts_example_loads_with_every_default_written_out() -> None:
    manifest = loaded(CONTACT)
    tool = manifest.tools["crm.create_contact"]
    assert tool["execute"]["timeout"] == 5.0
    assert tool["execute"]["json"] == {"email": "${ args.email }", "reference": "${ key }", "note": None}
    assert tool["compensate"]["verify"]["settle"] == 2.0
    assert tool["compensate"]["idempotency"] == {"by": "none"}
    assert tool["compensate"]["late"] == 15 * 60
    assert "404" in tool["compensate"]["refused"]
    assert tool["profile"]["reliability"] == "unstated"
    assert [step["after"] for step in manifest.workflows["client-onboarding"]["steps"]] == [[], ["crm"]]


def test_a_spec_keeps_its_digest_whatever_the_order_and_form_of_its_file() -> None:
    once = loaded(CONTACT)
    again = load_texts([("m.yaml", CONTACT.replace("timeout: 5s", "timeout: 5000ms"))], env_names={"CRM_URL"})
    changed = loaded(CONTACT.replace("timeout: 5s", "timeout: 6s"))
    digests = [digest(one.tools["crm.create_contact"]) for one in (once, again, changed)]
    assert digests[0] == digests[1] != digests[2]
    assert json.loads(json.dumps(once.tools)) == once.tools


def test_an_undoing_that_carries_our_key_inherits_its_promise() -> None:
    text = CONTACT.replace('contacts/${ result.id }"\n      ack', 'contacts/${ result.id }?k=${ key }"\n      ack')
    part = loaded(text).tools["crm.create_contact"]["compensate"]
    assert part["idempotency"] == {"by": "native_key", "retention": 86_400.0}
    assert part["late"] == 30.0


def test_either_top_key_may_be_missing_or_empty_and_tools_applied_earlier_may_be_named() -> None:
    tools, _, workflows = CONTACT.partition("workflows:")
    known = loaded(tools + "workflows:\n").tools
    assert loaded("workflows:" + workflows, known_tools=known).workflows
    assert "is no tool here, nor one applied earlier" in refusal("workflows:" + workflows)
    assert loaded("tools:\n") == loaded("") == Manifest()


@pytest.mark.parametrize(
    ("before", "after", "path", "says"),
    [
        # names
        ('${ args.email }", reference', '${ argz.email }", reference', "execute.json.email", "argz isn't known here"),
        (
            '${ args.email }", reference',
            '${ args.emial }", reference',
            "execute.json.email",
            "args.emial isn't defined",
        ),
        ('{email: "${ input.email }"}', '{email: "${ input.mail }"}', "steps.0.arguments.email", "input.mail isn't"),
        (
            "/contacts?reference",
            "/${ env.OTHER }?reference",
            "verify.url",
            "isn't among the names in MAKEGOOD_ENV (CRM_URL)",
        ),
        (
            "steps.crm.result.id",
            "steps.nope.result.id",
            "steps.1.arguments.email",
            "a step nope that this workflow doesn't",
        ),
        ("steps.crm.result.id", "steps.crm.result.no", "steps.1.arguments.email", "there are id"),
        ("after: [crm]", "after: []", "steps.1.arguments.email", "doesn't come after; add it to after"),
        ("after: [crm]", "after: [crn]", "steps.1.after.0", "is no step of this workflow; there are crm, audience"),
        (
            "crm.create_contact, arguments",
            "crm.create_contact, after: [audience], arguments",
            "steps.0.after",
            "a cycle",
        ),
        ("name: audience", "name: crm", "steps.1.name", "a second time"),
        ("body.title", "secret('X')", "before.keep.title", "headers, json and auth only"),
        ("reference=${ key }", "reference=${ secret('X') }", "verify.url", "headers, json and auth only"),
        ("status == 429", "status = 429", "execute.temporary", "'='"),
        ("status == 429", "${ status == 429 }", "execute.temporary", "write it without ${ }"),
        ("status == 200 && size(body.items) == 0", "run.nope == 1", "verify.absent", "run.nope isn't defined"),
        # promises that don't go together
        ('      result: {id: "${ body.items[0].id }"}\n', "", "compensate.url", "needs result.id, which verify.result"),
        ('${ result.id }"\n', '${ before.x }"\n', "compensate.url", "which before.keep doesn't give"),
        ("by: native_key, retention: 24h", "by: none, retention: 24h", "idempotency.retention", "means nothing"),
        (
            "effect_class: reversible, access: write",
            "effect_class: read_only, access: write",
            "profile.access",
            "read_only",
        ),
        ("      poll: {", "      poll_: {", "execute.poll_", "is no field here"),
        ('      pending: "status == 202"\n', "", "execute.poll", "never used without pending"),
        ("timeout: 5s", "timeout: 61s", "execute.timeout", "at most 60s"),
        ("timeout: 5s", "timeout: 5", "execute.timeout", "a duration like"),
        ("gate: none", "gate: rehearsal", "gate", "until rehearsals exist"),
        ("kind: http", "kind: mcp", "kind", "isn't built yet"),
        ("kind: http", "kind: htttp", "kind", "must be one of http, smtp, caldav, mcp, python"),
        ("autonomy: auto, ", "", "profile.autonomy", "is missing"),
        ("customer_visible: false", "customer_visible: no", "profile.customer_visible", "true or false"),
        ("access: write", "access: admin", "profile.access", "'read_only', 'constrained_write' or 'write'"),
        ("fallbacks: []", "fallbacks: [crm.other]", "compensate.fallbacks.0", "is no tool here"),
        ("kind: http", "kind: [http]", "kind", "must be one of http"),
        ('amount: "${ args.amount }"', 'amount: "12.50"', "value.amount", "must be an integer in minor units"),
        # where it goes and what it carries
        (
            'url: "${ env.CRM_URL }/contacts"\n',
            'url: "http://${ args.email }/contacts"\n',
            "execute.url",
            "literal or env",
        ),
        (
            'url: "${ env.CRM_URL }/contacts"\n',
            'url: "${ env.CRM_URL }${ args.email }"\n',
            "execute.url",
            "literal or env",
        ),
        ('url: "${ env.CRM_URL }/contacts"\n', 'url: "ftp://x/contacts"\n', "execute.url", "must begin with http"),
        ("headers: {Idem", "headers: {Host: x, Idem", "execute.headers.Host", "by the transport itself"),
        ("headers: {Idem", 'headers: {"X-A": "a\\r\\nB: c", Idem', "execute.headers.X-A", "line break"),
        ("      json: {", "      auth: {}\n      json: {", "execute.auth", "one of bearer, basic and oauth"),
        # shapes
        (
            "properties: {email: {type: string}, amount",
            "properties: {email: {type: strin}, amount",
            "arguments.properties.email.type",
            "JSON Schema",
        ),
        ("{type: object, required: [email]", "{type: array, required: [email]", "arguments.type", 'must be "object"'),
        (
            "properties: {customer: {",
            'properties: {customer: {$ref: "http://x/y", ',
            "input.properties.customer.$ref",
            "nowhere",
        ),
        ('arguments: {email: "${ input.email }"}', "arguments: {}", "steps.0.arguments.email", "the tool requires it"),
        (
            'arguments: {email: "${ input.email }"}',
            "arguments: {email: 1}",
            "steps.0.arguments.email",
            'of type "string"',
        ),
        (
            'arguments: {email: "${ input.email }"}',
            "arguments: {email: x, y: 1}",
            "steps.0.arguments.y",
            "no argument of",
        ),
        ("  client-onboarding:", "  adhoc:", "workflows.adhoc", "built in"),
        ("  crm.create_contact:\n", "  crm create:\n", "tools.crm create", "letters, digits"),
        ("version: 1\n    kind", "version: 0\n    kind", "version", "greater than or equal to 1"),
        ("version: 1\n    kind", 'version: "1"\n    kind', "version", "a whole number"),
        ("looks: 6", "looks: 6\n      lokks: 6", "verify.lokks", "there are"),
    ],
)
def test_what_cannot_work_is_refused_with_file_path_and_value(before: str, after: str, path: str, says: str) -> None:
    assert before in CONTACT
    said = refusal(CONTACT.replace(before, after, 1))
    assert says in said
    assert f"{path}: " in said
    assert "m.yaml:" in said
    assert "(here: " in said


def test_a_native_key_must_be_in_the_request() -> None:
    text = CONTACT.replace('headers: {Idempotency-Key: "${ key }", ', "headers: {").replace(
        'reference: "${ key }", ', ""
    )
    assert "needs a request that contains ${ key }" in refusal(text)


def test_a_reversible_profile_needs_its_undoing() -> None:
    text = CONTACT[: CONTACT.index("    compensate:")] + CONTACT[CONTACT.index("    retry:") :]
    assert "compensate: is missing; effect_class reversible promises an undoing" in refusal(text)


def test_a_natural_key_needs_a_look() -> None:
    text = CONTACT.replace("by: native_key, retention: 24h", "by: natural_key")
    assert loaded(text).tools
    text = text[: text.index("    verify:")] + text[text.index("    compensate:") :]
    assert "needs a verify that asks the world" in refusal(text)


def test_all_flaws_are_told_at_once_and_nothing_is_returned() -> None:
    said = refusal(CONTACT.replace("timeout: 5s", "timeout: x").replace("gate: none", "gate: rehearsal"))
    assert "2 things are wrong" in said
    assert "is no tool here" not in said


def test_two_files_are_one_manifest_and_a_name_stands_once(tmp_path: Path) -> None:
    tools, _, workflows = CONTACT.partition("workflows:")
    (tmp_path / "tools.yaml").write_text(tools)
    (tmp_path / "plans.yaml").write_text("workflows:" + workflows)
    both = [tmp_path / "tools.yaml", tmp_path / "plans.yaml"]
    assert load(both, env_names={"CRM_URL"}) == loaded(CONTACT)
    (tmp_path / "plans.json").write_text(json.dumps({"tools": {"crm.create_contact": {}}}))
    with pytest.raises(Invalid, match=r"stands in .*tools\.yaml too"):
        load([*both, tmp_path / "plans.json"], env_names={"CRM_URL"})
    with pytest.raises(Invalid, match="No such file"):
        load([tmp_path / "missing.yaml"])


@pytest.mark.parametrize("text", ["[]", "a", "tools: []", "tools: {x: 1}", "workflows: {x: {steps: []}}", "toolz: {}"])
def test_any_other_document_is_refused_without_a_traceback(text: str) -> None:
    assert "nothing was applied" in refusal(text)


BATCH = """
tools:
  search.index:
    version: 1
    kind: http
    profile: {effect_class: irreversible, access: write, environment: trusted, observability: none, autonomy: auto,
              privileges: [], owner: desk, customer_visible: false, residue: ""}
    arguments: {type: object, required: [title], properties: {title: {type: string}}}
    execute:
      method: POST
      url: "${ env.CRM_URL }/bulk"
      json: {id: "${ key }"}
      batch: {max: 5, json: {items: "${ items }"}, answers: "body.items", by: "item.id"}
      acknowledged: "item.ok"
"""


@pytest.mark.parametrize(
    ("old", "new", "path", "says"),
    [
        ("${ key }", "none", "execute.json", "must hold ${ key }"),
        ("/bulk", "/bulk/${ args.title }", "execute.url", "isn't known here"),
        ('      acknowledged: "item.ok"\n', "", "execute.acknowledged", "one status stands for many"),
        ("max: 5", "max: 1", "execute.batch.max", "greater than or equal to 2"),
        ('acknowledged: "item.ok"', 'acknowledged: "thing.ok"', "execute.acknowledged", "isn't known here"),
    ],
)
def test_a_batch_speaks_of_no_single_effect_and_names_each_in_its_answer(
    old: str, new: str, path: str, says: str
) -> None:
    assert load_texts([("m.yaml", BATCH)], env_names={"CRM_URL"}).tools
    with pytest.raises(Invalid) as raised:
        load_texts([("m.yaml", BATCH.replace(old, new))], env_names={"CRM_URL"})
    flaws = [(f.path, f.message) for f in raised.value.flaws]
    assert any(where.endswith(path) and says in message for where, message in flaws), flaws

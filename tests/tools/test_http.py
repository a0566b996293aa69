"""The kind http against a provider that lies: what each answer, and each missing answer, is taken for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.tools.calls import KEY, call
from tests.tools.test_manifest import CONTACT
from tests.world.provider import Provider
from workflows.outcomes import Acknowledged, NotSent, Pending, Refused, Unknown, Verdict
from workflows.tools.base import Tool
from workflows.tools.http.answers import is_unreadable, names_of
from workflows.tools.manifest import load_texts
from workflows.tools.registry import build
from workflows.tools.wire.exchange import forget
from workflows.tools.wire.messages import Answer


@pytest.fixture
def world() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider
        forget()  # before the provider ends: it waits for its connections


@pytest.fixture
def contact(world: Provider, monkeypatch: pytest.MonkeyPatch) -> Tool:
    monkeypatch.setenv("MAKEGOOD_ENV", "CRM_URL, OTHER")
    monkeypatch.setenv("CRM_URL", world.url)
    monkeypatch.setenv("MAKEGOOD_SECRET_CRM", "s3cr3t-value")
    spec = load_texts([("m.yaml", CONTACT.replace("timeout: 5s", "timeout: 60s"))]).tools["crm.create_contact"]
    return build("crm.create_contact", "http", spec)


def test_a_created_contact_is_acknowledged_found_and_undone(world: Provider, contact: Tool) -> None:
    sent = contact.send(call())
    assert isinstance(sent, Acknowledged)
    (thing,) = world.objects("contacts")
    assert sent.result == {"id": thing.id}
    (wire,) = world.wire("POST")
    assert wire.headers["idempotency-key"] == KEY
    assert wire.headers["authorization"] == "Bearer s3cr3t-value"
    assert "s3cr3t-value" not in repr(sent)
    assert contact.look(call()).verdict is Verdict.FOUND

    undo = call("compensate", result=dict(sent.result))
    assert contact.look(undo).verdict is Verdict.ABSENT
    assert isinstance(contact.send(undo), Acknowledged)
    assert contact.look(undo).verdict is Verdict.FOUND
    assert world.objects("contacts") == []


@pytest.mark.parametrize(
    ("plan", "kind", "says"),
    [
        ({"answer": "cut"}, Unknown, "connection was lost"),
        ({"answer": "close"}, Unknown, "closed without an answer"),
        ({"answer": "short"}, Unknown, "broke off"),
        ({"answer": "cut_chunked"}, Unknown, "broke off"),
        ({"answer": "html200"}, Unknown, "text/html under status 200, where JSON was expected"),
        ({"answer": "wrong_type"}, Unknown, "text/plain under status 201"),
        ({"answer": "error200"}, Unknown, "nothing declared matches"),
        ({"answer": "gzip_bomb"}, Unknown, "unpacks to more than"),
        ({"answer": "huge", "size": 2_000_000}, Unknown, "larger than 1048576 bytes"),
        ({"answer": "503"}, Unknown, "status 503: not now"),
        ({"answer": "500"}, Unknown, "status 500"),
        ({"answer": "409"}, Unknown, "status 409"),
        ({"answer": "422"}, Refused, "status 422: not now"),
        ({"answer": "redirect", "status": 301, "location": "https://other.example/contacts"}, Refused, "redirect 301"),
        ({"answer": "redirect", "status": 307, "location": "/elsewhere"}, Refused, "redirect 307 to /elsewhere"),
        ({"answer": "redirect", "status": 302, "location": "/login"}, Unknown, "redirect 302 to /login isn't followed"),
        ({"answer": "redirect", "status": 303, "location": "/done"}, Unknown, "redirect 303"),
    ],
)
def test_an_answer_is_believed_only_when_it_is_whole_and_declared(
    world: Provider, contact: Tool, plan: dict[str, Any], kind: type, says: str
) -> None:
    world.script(**plan)
    outcome = contact.send(call())
    assert isinstance(outcome, kind)
    assert says in outcome.reason  # type: ignore[union-attr]
    assert len(world.wire("POST")) == 1
    assert len(json.dumps(dict(outcome.evidence))) < 20_000


@pytest.mark.parametrize("answer", ["silence", "drip"])
def test_the_timeout_bounds_the_whole_call(world: Provider, contact: Tool, answer: str) -> None:
    contact.spec["execute"]["timeout"] = 0.4
    world.script(answer=answer)
    outcome = contact.send(call())
    assert isinstance(outcome, Unknown)
    assert outcome.reason == "no whole answer within 0.4 s"


def test_an_act_whose_answer_is_lost_is_found_by_a_look(world: Provider, contact: Tool) -> None:
    world.script(book="before", answer="cut")
    assert isinstance(contact.send(call()), Unknown)
    seen = contact.look(call())
    assert (seen.verdict, dict(seen.result)) == (Verdict.FOUND, {"id": world.objects("contacts")[0].id})


def test_a_slam_before_the_first_byte_is_read_is_unknown_and_a_closed_port_is_proof(
    world: Provider, contact: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.slam()
    assert isinstance(contact.send(call()), Unknown | NotSent)  # reset before or after our bytes left: never refused
    monkeypatch.setenv("CRM_URL", "http://127.0.0.1:1")
    refused = contact.send(call())
    assert isinstance(refused, NotSent)
    assert "Connection refused" in refused.reason
    monkeypatch.setenv("CRM_URL", "http://no-such-host.invalid")
    assert isinstance(contact.send(call()), NotSent)


def test_a_wait_that_the_provider_asks_for_is_told(world: Provider, contact: Tool) -> None:
    world.script(answer="429", retry_after="7")
    outcome = contact.send(call())
    assert isinstance(outcome, Refused)
    assert (outcome.temporary, outcome.retry_after) == (True, 7.0)


def test_accepted_work_is_polled_until_it_is_done_or_failed(world: Provider, contact: Tool) -> None:
    world.script(method="POST", answer="202", polls=1)
    world.script(method="POST", answer="202", fails=True)
    sent = contact.send(call())
    assert isinstance(sent, Pending)
    assert str(sent.poll["url"]).startswith(world.url)
    going_on = contact.poll(call(), sent.poll)
    assert isinstance(going_on, Pending)
    assert going_on.poll == sent.poll
    done = contact.poll(call(), sent.poll)
    assert isinstance(done, Acknowledged)
    assert done.result == {"id": world.objects("contacts")[0].id}
    failing = contact.send(call(key="x" * 26))
    assert isinstance(failing, Pending)
    failed = contact.poll(call(), failing.poll)
    assert isinstance(failed, Refused)
    assert "it didn't work out" in failed.reason
    away = contact.poll(call(), {"url": "http://127.0.0.1:1/operations/op-1"})
    assert isinstance(away, Unknown)
    assert "leads away from" in away.reason


@pytest.mark.parametrize(
    ("plan", "verdict", "reached"),
    [
        ({"answer": "503"}, Verdict.INCONCLUSIVE, False),
        ({"answer": "429"}, Verdict.INCONCLUSIVE, False),
        ({"answer": "cut"}, Verdict.INCONCLUSIVE, False),
        ({"answer": "html200"}, Verdict.INCONCLUSIVE, True),
        ({"answer": "404"}, Verdict.INCONCLUSIVE, True),
        ({"answer": "redirect"}, Verdict.INCONCLUSIVE, True),
        ({"answer": "huge", "size": 2_000_000}, Verdict.INCONCLUSIVE, True),
        ({}, Verdict.ABSENT, True),
    ],
)
def test_a_look_that_could_not_read_never_says_absent(
    world: Provider, contact: Tool, plan: dict[str, Any], verdict: Verdict, reached: bool
) -> None:
    if plan:
        world.script(method="GET", **plan)
    seen = contact.look(call())
    assert (seen.verdict, seen.reached) == (verdict, reached)


def test_a_look_tells_ours_from_another_ones_and_from_two(world: Provider, contact: Tool) -> None:
    world.plant("contacts", reference=KEY, email="other@example.com")
    assert contact.look(call()).verdict is Verdict.DIFFERS
    world.plant("contacts", reference=KEY, email="a@example.com")
    assert contact.look(call()).verdict is Verdict.SEVERAL


def test_not_there_at_the_first_delete_is_looked_at_not_believed(world: Provider, contact: Tool) -> None:
    undo = call("compensate", result={"id": "c-404"})
    first = contact.send(undo)
    assert isinstance(first, Unknown)
    assert "on the first delete" in first.reason
    again = contact.send(call("compensate", result={"id": "c-404"}, attempt=2))
    assert isinstance(again, Unknown)


def test_a_refused_undoing_keeps_the_providers_reason(world: Provider, contact: Tool) -> None:
    sent = contact.send(call())
    assert isinstance(sent, Acknowledged)
    world.script(method="DELETE", undo="refused")
    outcome = contact.send(call("compensate", result=dict(sent.result)))
    assert isinstance(outcome, Refused | Unknown)
    assert world.objects("contacts")


def test_a_request_that_cannot_be_made_is_refused_without_a_byte(
    world: Provider, contact: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = contact.send(call(arguments={}))
    assert isinstance(missing, Refused)
    assert "json.email: has no field 'email'" in missing.reason
    assert isinstance(contact.send(call("compensate", result={"id": ""})), Refused)
    assert isinstance(contact.send(call("compensate", result={"id": ".."})), Refused)
    contact.spec["execute"]["headers"] = {"X-Name": "${ args.email }"}
    assert isinstance(contact.send(call(arguments={"email": "a\r\nX-Evil: 1"})), Refused)
    contact.spec["execute"]["headers"] = {"Authorization": "${ secret('UNSET') }"}
    unset = contact.send(call())
    assert isinstance(unset, NotSent)  # the operator can still set it
    assert "MAKEGOOD_SECRET_UNSET" in unset.reason
    contact.spec["execute"] |= {"headers": {}, "url": "${ env.OTHER }/contacts"}
    reason = "the request can't be made: OTHER isn't set in the environment"
    assert contact.send(call()) == NotSent(reason=reason, ours=True)
    contact.spec["execute"]["url"] = "${ env.CRM_URL }/contacts"
    monkeypatch.setenv("MAKEGOOD_ALLOW_PRIVATE_HOSTS", "0")
    contact.spec["execute"]["headers"] = {}
    private = contact.send(call(key="y" * 26))
    assert isinstance(private, Refused)
    assert "MAKEGOOD_ALLOW_PRIVATE_HOSTS forbids" in private.reason
    assert world.wire() == []


def test_values_in_a_url_are_one_segment_or_value(world: Provider, contact: Tool) -> None:
    contact.spec["verify"]["url"] = "${ env.CRM_URL }/contacts/${ args.a }?reference=${ args.b }"
    contact.look(call(arguments={"email": "x", "a": "a/../b?c#d", "b": "1&x=2 é"}))
    assert world.wire("GET")[0].target == "/contacts/a%2F..%2Fb%3Fc%23d?reference=1%26x%3D2%20%C3%A9"


def test_the_image_before_the_act_is_kept_with_its_version(world: Provider, contact: Tool) -> None:
    thing = world.plant("contacts", title="Dr", reference="z")
    contact.spec["before"] |= {"url": "${ env.CRM_URL }/contacts/" + thing}
    seen = contact.before(call())
    assert (seen.verdict, seen.result) == (Verdict.FOUND, {"title": "Dr"})
    assert seen.evidence["version"]
    world.script(method="GET", answer="503")
    assert contact.before(call()).verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"ok": false, "id": "a", "ok": true}', None),
        (b'{"item": {"id": "a", "id": "b"}}', None),
        (b'{"ok": true, "item": {"ok": false}}', {"ok": True, "item": {"ok": False}}),
    ],
)
def test_an_answer_that_says_two_things_under_one_key_is_read_by_the_last(body: bytes, told: Any) -> None:
    kind = {"content-type": "application/json"}
    answer = Answer(status=200, headers=kind, body=body, received=len(body), address="")
    assert names_of(answer)["body"] == told
    assert is_unreadable(answer) == (told is None)

"""Bad input changes nothing: a clear error names the field, shows the value, says what to do."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import Caller, problem, read
from workflows.models import Run, Step

OK: dict[str, Any] = {"workflow": "sim", "subject": {"type": "customer", "id": "1"}}

BODIES: list[tuple[str, bytes, str]] = [
    ("nothing", b"", "body"),
    ("no JSON", b"{", "body"),
    ("no object", b"[]", "body"),
    ("a bare NaN", b"NaN", "body"),
    ("a byte that UTF-8 doesn't have", b'{"external_id": "\xff"}', "body"),
    ("UTF-16", '{"open": true}'.encode("utf-16"), "body"),
    ("UTF-16 without mark", '{"open": true}'.encode("utf-16-le"), "body"),
    ("a byte order mark", b'\xef\xbb\xbf{"open": true}', "body"),
    ("a surrogate in UTF-8 clothes", b'{"external_id": "\xed\xa0\x80"}', "body"),
    ("a raw control character", b'{"external_id": "\x00"}', "body"),
    ("depth that exhausts the stack", b"[" * 50_000, "body"),
    ("NUL", rb'{"external_id": "x\u0000"}', "external_id"),
    ("NUL in a list", rb'{"input": {"names": ["a", "\u0000"]}}', "input.names.1"),
    ("NUL as a name", rb'{"input": {"\u0000": 1}}', r"input.\x00"),
    ("half a surrogate pair", rb'{"external_id": "\ud800"}', "external_id"),
    ("the other half", rb'{"input": {"a": "\udc00\ud800"}}', "input.a"),
    ("a field twice", b'{"subject": {"type": "a", "id": "1", "id": "2"}}', "subject.id"),
    ("NaN", b'{"input": {"amount": NaN}}', "input.amount"),
    ("infinity", b'{"input": {"amount": -Infinity}}', "input.amount"),
    ("a number beyond all", b'{"input": {"amount": 1e999}}', "input.amount"),
    ("a number too long to read", b'{"input": {"amount": ' + b"9" * 5000 + b"}}", "input.amount"),
    (
        "depth",
        b'{"input": ' + b'{"a":' * 70 + b"1" + b"}" * 71,
        "input" + ".a" * 63,
    ),  # the body is level 1, its input level 2
]


@pytest.mark.parametrize(("sent", "path"), [case[1:] for case in BODIES], ids=[case[0] for case in BODIES])
def test_a_body_that_could_be_misread_is_refused_by_its_path(caller: Caller, sent: bytes, path: str) -> None:
    status, code, paths = problem(caller.post("runs", sent))
    assert (status, code, paths[0]) == (400, "invalid", path)
    assert not Run.objects.exists()


FIELDS: list[tuple[dict[str, Any], str]] = [
    ({"subject": None}, "subject"),
    ({"subject": {}}, "subject.type"),
    ({"subject": {"type": "customer", "id": 7}}, "subject.id"),
    ({"subject": {"type": "customer", "id": " "}}, "subject.id"),
    ({"subject": {"type": "customer", "id": "1", "name": "Acme"}}, "subject.name"),
    ({"subject": {"type": "customer", "id": "x" * 201}}, "subject.id"),
    ({"workflow": 7}, "workflow"),
    ({"workflow": "nope"}, "workflow"),
    ({"workflow": None}, "workflow"),
    ({"version": "1"}, "version"),
    ({"version": 0}, "version"),
    ({"version": True}, "version"),
    ({"version": 99}, "version"),
    ({"input": []}, "input"),
    ({"external_id": "x" * 201}, "external_id"),
    ({"open": "yes"}, "open"),
    ({"budget": 5}, "budget"),
    ({"budget": {}}, "budget"),
    ({"budget": {"amount": 5}}, "budget.amount"),
    ({"budget": {"calls": -1}}, "budget.calls"),
    ({"budget": {"calls": True}}, "budget.calls"),
    ({"budget": {"seconds": 1.5}}, "budget.seconds"),
    ({"budget": {"effects": 2**53}}, "budget.effects"),
    ({"budget": {"money": {}}}, "budget.money"),
    ({"budget": {"money": {"eur": 5000}}}, "budget.money.eur"),
    ({"budget": {"money": {"EUR": "5000"}}}, "budget.money.EUR"),
    ({"budget": {"of": "mine"}}, "budget.of"),
    ({"budget": {"of": "01890000-0000-7000-8000-000000000000"}}, "budget.of"),
    ({"wrokflow": "sim"}, "wrokflow"),
]


@pytest.mark.parametrize(("change", "path"), FIELDS, ids=[str(case[0])[:40] for case in FIELDS])
def test_a_field_that_is_wrong_is_named_with_its_value(caller: Caller, change: dict[str, Any], path: str) -> None:
    body = {name: value for name, value in {**OK, **change}.items() if value is not None}
    answer = caller.post("runs", body)
    assert problem(answer) == (400, "invalid", [path, *problem(answer)[2][1:]])
    assert read(answer)["errors"][0]["message"]
    assert not Run.objects.exists()


def test_six_characters_that_look_like_an_escape_are_text(caller: Caller) -> None:
    assert caller.start(external_id="\\u0000")["external_id"] == "\\u0000"


@pytest.mark.parametrize("size", [262_144 - 40, 262_145, 2_000_000])
def test_a_body_beyond_the_limit_is_too_large(caller: Caller, size: int) -> None:
    answer = caller.post("runs", b'{"external_id": "' + b"x" * size + b'"}')
    small = size < 262_144
    assert problem(answer)[:2] == ((400, "invalid") if small else (413, "too_large"))


@pytest.mark.parametrize(
    "kind", ["", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1"]
)
def test_a_body_that_isn_t_called_json_is_refused(caller: Caller, kind: str) -> None:
    assert problem(caller.post("runs", OK, **{"Content-Type": kind})) == (400, "invalid", ["Content-Type"])


QUERIES: list[tuple[str, str]] = [
    ("limit=0", "limit"),
    ("limit=201", "limit"),
    ("limit=%D9%A1", "limit"),
    ("limit=", "limit"),
    ("limit=5&limit=6", "limit"),
    ("stat=open", "stat"),
    ("state=opened", "state"),
    ("external_id=%00", "external_id"),
    ("external_id=%ED%A0%80", "external_id"),
    ("external_id=%FF", "external_id"),
    ("%00=1", "\x00"),
    ("created_after=yesterday", "created_after"),
    ("created_after=2026-01-01T00:00:00", "created_after"),
    ("created_before=9999-12-31T23:59:59-12:00", "created_before"),
    ("cursor=", "cursor"),
    ("cursor=abc", "cursor"),
    ("cursor=%C3%A9", "cursor"),
    ("cursor=" + "a" * 3000, "cursor"),
]


@pytest.mark.parametrize(("query", "path"), QUERIES)
def test_a_query_is_read_as_strictly_as_a_body(caller: Caller, query: str, path: str) -> None:
    status, code, paths = problem(caller.get(f"runs?{query}"))
    assert (status, code) == (400, "invalid")
    assert paths in ([path], [repr(path)[1:-1]])


@pytest.mark.parametrize(
    "key",
    [None, "", " ", "a b", "x" * 256, "ключ", "a,b", "same,same", "a\x7f", "a\tb"],
    ids=["none", "empty", "blank", "a space", "256", "not ASCII", "a comma", "sent twice", "DEL", "tab"],
)
def test_a_key_that_nobody_could_repeat_exactly_is_refused(caller: Caller, key: str | None) -> None:
    assert problem(caller.post("runs", OK, key=key)) == (400, "key_missing", ["Idempotency-Key"])
    assert not Run.objects.exists()


@pytest.mark.parametrize("key", ["!", "~" * 255, 'a-b+c;d="e"\''])
def test_a_key_of_visible_ascii_is_taken(caller: Caller, key: str) -> None:
    assert caller.post("runs", OK, key=key).status_code == 201


STEPS: list[tuple[dict[str, Any], str]] = [
    ({"name": "1st step"}, "name"),
    ({"name": None}, "name"),
    ({"tool": "sim.nope"}, "tool"),
    ({"arguments": None}, "arguments"),
    ({"arguments": {"amount": "7"}}, "arguments.amount"),
    ({"arguments": {"sum": 7}}, "arguments.sum"),
    ({"after": "act"}, "after"),
    ({"after": ["nope"]}, "after"),
    ({"before": []}, "before"),
]


@pytest.mark.parametrize(("change", "path"), STEPS, ids=[str(case[0])[:40] for case in STEPS])
def test_a_step_that_is_wrong_is_not_taken(caller: Caller, change: dict[str, Any], path: str) -> None:
    run = caller.start(workflow=None, open=True)
    step = {"name": "first", "tool": "sim.act", "arguments": {}, **change}
    answer = caller.post(f"runs/{run['id']}/steps", {name: value for name, value in step.items() if value is not None})
    assert problem(answer) == (400, "invalid", [path])
    assert not Step.objects.exists()


@pytest.mark.parametrize(("body", "path"), [({}, "reason"), ({"reason": "x", "then": "undo"}, "then")])
def test_a_cancel_that_is_wrong_changes_nothing(caller: Caller, body: dict[str, Any], path: str) -> None:
    run = caller.start()
    assert problem(caller.post(f"runs/{run['id']}/cancel", body)) == (400, "invalid", [path])
    assert read(caller.get(f"runs/{run['id']}"))["phase"] == "running"

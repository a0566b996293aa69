"""Manifest files: what means two things to two readers is refused, with its place."""

from __future__ import annotations

import string
from typing import Any

import pytest

from workflows.errors import Invalid
from workflows.tools.reading import PlacedFlaw, read

BOMB = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 10))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("on: {x: no}", {"on": {"x": "no"}}),
        ("ver: 1.10", {"ver": 1.1}),
        ("ver: '1.10'", {"ver": "1.10"}),
        (
            "a: [1, 2.5, 3e2, ~, null, True, '1', \"x\\ty\"]",
            {"a": [1, 2.5, 300.0, None, None, True, "1", "x\ty"]},
        ),
        ("a: 5s\nb: 1_000\nc: é", {"a": "5s", "b": "1_000", "c": "é"}),
        ("a: |\n  two\n  lines\n", {"a": "two\nlines\n"}),
        ("'<<': 1", {"<<": 1}),
        ("", None),
    ],
)
def test_yaml_means_what_version_1_2_says(text: str, wanted: Any) -> None:
    assert read("m.yaml", text).value == wanted


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("limit: 10\nlimit: 10000", (2, 1), "a second time"),
        ("at: 12:30:45", (1, 5), "base 60"),
        ("code: 010", (1, 7), "octal"),
        ("code: 0o10", (1, 7), "no number of JSON"),
        ("d: 2026-03-29", (1, 4), "a date"),
        ("d: 2026-03-29T10:00:00Z", (1, 4), "a date"),
        ("n: .inf", (1, 4), "no number of JSON"),
        ("n: 1e999", (1, 4), "no finite number"),
        ("a: {x: 1}\nb:\n  <<: {y: 2}", (3, 3), "merge keys"),
        (BOMB, (1, 5), "anchors and aliases"),
        ("a: !!python/object:os.system x", (1, 4), "tags aren't taken"),
        ("a: ! 1", (1, 4), "tags aren't taken"),
        ("a:\n\t- b", (2, 1), "cannot start any token"),
        ("a: 1\nb: \0", (2, 1), "can't stand in a YAML file"),
        ('a: "\\0"', (1, 4), "NUL"),
        ('a: "\\ud800"', (1, 4), "surrogate"),
        ("a: 1\n---\nb: 2", (2, 1), "only one document"),
        ("%YAML 1.1\n---\na: 1", (2, 1), "directives"),
        ("1: a", (1, 1), 'write "1"'),
        ("true: a", (1, 1), 'write "true"'),
        ("? [a]\n: b", (1, 3), "must be a string"),
        ("[" * 10_000, (1, 50), "nested deeper"),
        ("n: " + string.digits[1:] * 50, (1, 4), "more than 40 digits"),
        ("a: b: c", (1, 5), "not allowed here"),
    ],
)
def test_yaml_that_others_read_otherwise_is_refused_in_place(text: str, place: tuple[int, int], says: str) -> None:
    with pytest.raises(Invalid) as caught:
        read("m.yaml", text)
    (flaw,) = caught.value.flaws
    assert isinstance(flaw, PlacedFlaw)
    assert (flaw.line, flaw.column) == place
    assert says in flaw.message
    assert f"m.yaml:{place[0]}:{place[1]}: " in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ('{"a": {"b": 1,\n "b": 2}}', 2, "twice"),
        ('{"a": NaN}', 1, "no finite number"),
        ('{"a": 1e999}', 1, "no finite number"),
        ('{"a": "\\u0000"}', 1, "NUL"),
        ('{"\\ud800": 1}', 1, "surrogate"),
        ("[" * 100_000, 1, "nested deeper"),
        ('{"a": 1,}', 1, "double quotes"),
    ],
)
def test_json_has_the_same_traps_closed(text: str, line: int, says: str) -> None:
    with pytest.raises(Invalid) as caught:
        read("m.json", text)
    (flaw,) = caught.value.flaws
    assert isinstance(flaw, PlacedFlaw)
    assert flaw.line == line
    assert says in flaw.message


def test_bytes_that_are_no_utf_8_are_refused() -> None:
    with pytest.raises(Invalid, match=r"m\.yaml:2:1: is no UTF-8"):
        read("m.yaml", b"a: 1\nb: \xff")

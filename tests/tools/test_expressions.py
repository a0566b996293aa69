"""Expressions: what they may read, what they give, and that no text makes them run for long."""

from __future__ import annotations

import random
from typing import Any

import pytest

from workflows.tools.expressions import ExpressionError, compile, fill, fill_text, parse  # noqa: A004

THOUSAND = list(range(1000))
QUARTER = "a" * 250_000


def value(text: str, **names: Any) -> Any:
    return compile(text, names).run(names)


def error(text: str, **names: Any) -> str:
    with pytest.raises(ExpressionError) as caught:
        value(text, **names)
    return caught.value.message


@pytest.mark.parametrize(
    ("text", "names", "wanted"),
    [
        ("args.n", {"args": {"n": 5}}, 5),
        ("args.list", {"args": {"list": [1, {"a": None}]}}, [1, {"a": None}]),
        ("args.email.lowerAscii()", {"args": {"email": "ÄBC@X"}}, "Äbc@x"),
        ("body.items.exists(i, i.id == args.id)", {"body": {"items": [{"id": 7}]}, "args": {"id": 7}}, True),
        ("headers['operation-location']", {"headers": {"operation-location": "/o"}}, "/o"),
        ("timestamp('2026-03-29T00:30:00Z')", {}, "2026-03-29T00:30:00Z"),
        ("args.big", {"args": {"big": 2**64}}, "18446744073709551616"),
        ("args.least", {"args": {"least": -(2**63)}}, -(2**63)),
        ("args.lone", {"args": {"lone": "x\ud800"}}, "x\\ud800"),
        ("args.x == '\" || true || \"'", {"args": {"x": "other"}}, False),
        ("[1, 1.0, true].map(i, i == 1)", {}, [True, True, False]),
        ("'a,b'.split(',').join('-') + 'abc'.substring(1, 2)", {}, "a-bb"),
    ],
)
def test_a_value_is_bound_never_pasted_and_keeps_its_type(text: str, names: dict[str, Any], wanted: Any) -> None:
    assert value(text, **names) == wanted
    assert type(value(text, **names)) is type(wanted)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nope.x", "nope isn't known here; known: args"),
        ("args.x.f()", "f() isn't known"),
        ("secret('A')", "headers, json and auth only"),
        ("args.a.map(x, args.b.map(y, x))", "don't nest"),
        ("args.a.map(x, x).map(y, y)", "maps more than once"),
        ("args.x.matches(args.y)", "one literal pattern"),
        ("args.x.matches('(a{30}){30}')", "64 repeats"),
        ("args.a.exists(x, x.matches('a'))", "outside any comprehension"),
        ("Message{a: 1}", "there are none here"),
        (".args", "must not begin with a dot"),
        ("args. +", "is no expression"),
        ("(args", "is never closed"),
        ("args.x // args.y", "would begin a comment"),
        ("", "is empty"),
        ("'" + "a" * 3000 + "'", "at most 2048"),
        ("(" * 10_000 + "1" + ")" * 10_000, "at most 2048"),
        ("(" * 900 + "1" + ")" * 900, "deeper than 32"),
    ],
)
def test_what_is_outside_the_grammar_is_refused_before_it_runs(text: str, says: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        compile(text, {"args"})
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("text", "names", "says"),
    [
        ("9223372036854775807 + 1", {}, "overflow"),
        ("1 / 0", {}, "division by zero"),
        ("args.missing", {"args": {}}, "has no field 'missing'"),
        ("has(body.id)", {"body": "a text"}, "No such overload"),
        ("'a' + 1", {}, "string + int"),
        ("double('NaN')", {}, "no JSON value"),
        ("duration('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!')", {}, "duration"),
        ("args.lowerAscii()", {"args": 1}, "needs a string, got int"),
        ("args", {"args": "a" * 300_000}, "262144 characters"),
        ("args", {"args": [0] * 1001}, "of 1001"),
        ("args", {"args": [[[[]] * 1000]] * 300}, "262144"),
    ],
)
def test_what_has_no_value_is_one_kind_of_error(text: str, names: dict[str, Any], says: str) -> None:
    assert says in error(text, **names)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("x.map(i, x)", {"x": THOUSAND}),
        ("x.map(i, [i, i, i, i, i, i, i, i, i, i, i, i])", {"x": THOUSAND}),
        ("x.map(i, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])", {"x": THOUSAND}),
        ("x.map(i, i + i)", {"x": ["a" * 256] * 1000}),
        ("x.exists(i, t.lowerAscii() == 'b')", {"x": THOUSAND, "t": QUARTER}),
        ("t" + "+t" * 600, {"t": QUARTER}),
        ("x" + "+x" * 600, {"x": THOUSAND}),
        ("t.replace('a', t)", {"t": QUARTER}),
        ("t.split('')", {"t": QUARTER}),
        ("t.matches('(.*a){60}b')", {"t": QUARTER}),
    ],
)
def test_what_would_multiply_its_input_is_refused_before_it_does(text: str, names: dict[str, Any]) -> None:
    assert "cost" in (said := error(text, **names)) or "would" in said


def test_a_pattern_that_backtracks_elsewhere_is_linear_here() -> None:
    assert value("x.matches('^([a-z]+)+$')", x="a" * 60_000 + "!") is False
    bits = "".join(random.choices("01", k=60_000))
    assert value("x.matches('[01]*1[01]{60}x')", x=bits) is False


def test_a_failing_function_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert "substring(): 9 is outside" in error("x.substring(9)", x="abc")
    assert capfd.readouterr() == ("", "")


def test_one_whole_expression_keeps_its_type_and_the_rest_is_joined() -> None:
    names = {"args": {"n": 5, "b": True, "evil": "${ args.secret }"}}
    spec = {
        "n": "${ args.n }",
        "text": ["${args.n}-${ args.b }", "$${ args.n }"],
        "evil": "<${ args.evil }>",
        "k": None,
    }
    assert fill(spec, names) == {"n": 5, "text": ["5-true", "${ args.n }"], "evil": "<${ args.secret }>", "k": None}


def test_braces_and_quotes_inside_an_expression_do_not_end_it() -> None:
    assert fill("${ {'a': '}'}.a }${ r'\\}' }", {}) == "}\\}"


@pytest.mark.parametrize("text", ["/contacts/${ args.id }", "x${ args.list }", "x${ args.map }"])
def test_null_and_collections_never_stand_inside_a_text(text: str) -> None:
    with pytest.raises(ExpressionError, match="can't stand inside a text"):
        fill(text, {"args": {"id": None, "list": [], "map": {}}})


def test_an_error_names_the_place_in_its_document() -> None:
    with pytest.raises(ExpressionError, match=r"^json\.items\.1: has no field 'x'"):
        fill({"items": ["a", "${ args.x }"]}, {"args": {}}, "json")


def test_a_sentence_for_people_says_what_is_not_known() -> None:
    assert (
        fill_text("Booked for ${ args.who } at ${ args.at }", {"args": {"who": "A"}}) == "Booked for A at (not known)"
    )


def test_a_template_that_is_never_closed_is_refused() -> None:
    with pytest.raises(ExpressionError, match="never closed"):
        parse("${ '}' ")

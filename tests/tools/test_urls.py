"""URL templates: who chooses the host, and what a value can do to the rest."""

from __future__ import annotations

from typing import Any

import pytest

from workflows.tools import urls
from workflows.tools.expressions import ExpressionError
from workflows.tools.http import drafting

NAMES: dict[str, Any] = {"env": {"BASE": "http://crm.example:8000/v1"}, "args": {"a": "x", "none": None}, "result": {}}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("https://crm.example/${ args.a }", None),
        ("${ env.BASE }/x?y=${ args.a }", None),
        ("http://${ env.HOST }:8000/x", None),
        ("${ env['BASE'] }?q=${ args.a }", None),
        ("https://${ args.a }.example/", "literal or env only"),
        ("https://crm.example${ args.a }/", "literal or env only"),
        ("${ env.BASE }${ args.a }", "literal or env only"),
        ("${ args.a }/x", "must begin with"),
        ("${ env.BASE + args.a }/x", "must begin with"),
        ("file:///etc/passwd", "must begin with"),
        ("https://crm.example/#${ args.a }", "fragment"),
        ("https://crm.example/a b", "blanks"),
    ],
)
def test_the_host_is_never_chosen_by_a_value(text: str, says: str | None) -> None:
    found = urls.trouble(text)
    assert found is None if says is None else says in str(found)


@pytest.mark.parametrize(
    ("text", "value", "wanted"),
    [
        ("${ env.BASE }/c/${ args.a }", "a/b?c#d%2F", "http://crm.example:8000/v1/c/a%2Fb%3Fc%23d%252F"),
        ("${ env.BASE }/c?q=${ args.a }&r=1", "a&b=c d", "http://crm.example:8000/v1/c?q=a%26b%3Dc%20d&r=1"),
        ("${ env.BASE }/c?q=${ args.a }", "", "http://crm.example:8000/v1/c?q="),
        ("${ env.BASE }/c/x-${ args.a }", "..", "http://crm.example:8000/v1/c/x-.."),
        ("${ env.BASE }/c/${ args.a }", 7, "http://crm.example:8000/v1/c/7"),
    ],
)
def test_a_value_stays_one_segment_or_one_value(text: str, value: object, wanted: str) -> None:
    assert urls.fill(text, NAMES | {"args": {"a": value}}) == wanted


@pytest.mark.parametrize("value", ["", "..", ".", None, [], {}])
def test_a_value_that_would_address_another_resource_is_refused(value: object) -> None:
    with pytest.raises(ExpressionError):
        urls.fill("${ env.BASE }/contacts/${ args.a }", NAMES | {"args": {"a": value}})


@pytest.mark.parametrize(
    "base",
    ["ftp://x", "http://u:p@x", "http://", "//x", "http://x y", "http://x:99999", "http://a..b", "x", "http://x\\y"],
)
def test_an_operators_address_that_is_none_is_refused(base: str) -> None:
    with pytest.raises(ExpressionError):
        urls.fill("${ env.BASE }/contacts", NAMES | {"env": {"BASE": base}})


@pytest.mark.parametrize(
    "base", ["https://u:hunter2@x", "https://u:hun#ter2@x", "https://u:hun/ter2@x", "ftp://u:hunter2@x"]
)
def test_a_password_in_an_operators_address_is_told_to_whoever_sees_what_would_be_sent(base: str) -> None:
    names = NAMES | {"env": {"BASE": base}}
    with pytest.raises(ExpressionError) as refused:
        urls.fill("${ env.BASE }/contacts", names)
    drafts = [
        drafting.draft({"method": "POST", "url": "${ env.BASE }/contacts"}, names),
    ]
    if "hun/" not in base:  # what an author wrote in clear as a path is no password
        drafts.append(drafting.draft({"method": "POST", "url": f"{base}/contacts"}, names))
    assert not [one for one in (str(refused.value), *map(str, drafts)) if "ter2" in one]
    assert "[hidden]@" in str(refused.value), "nobody knows where to look for it"


def test_an_address_with_a_persons_name_in_its_path_is_shown_as_another() -> None:
    part = {"method": "PUT", "url": "http://dav.example/desk@example.org/${ args.none }"}
    assert drafting.draft(part | {"url": "http://dav.example/desk@example.org/1"}, NAMES).line.endswith(
        "/desk@example.org/1"
    )
    assert drafting.draft(part, NAMES).line.startswith("PUT http://dav.example/desk@example.org/")


def test_an_answers_address_is_followed_to_its_own_origin_only() -> None:
    asked = "http://crm.example/contacts"
    assert urls.joined(asked, "/ops/1") == "http://crm.example/ops/1"
    assert urls.joined(asked, "http://crm.example:80/ops/1") == "http://crm.example:80/ops/1"
    for url in ("https://crm.example/ops/1", "http://crm.example:81/", "//evil.example/", "http://crm.example@evil/"):
        with pytest.raises(ExpressionError):
            urls.joined(asked, url)

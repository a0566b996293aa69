"""Filters of the console's templates: foreign text, times and money as people read them; and logins made once."""

from __future__ import annotations

import datetime as dt
import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from repairs.lanes import Scale
from repairs.templatetags.console import block, inert, inert_text, money, span, when, words

NOW = dt.datetime(2026, 3, 10, 14, 2, 3, tzinfo=dt.UTC)
Make = Callable[..., Any]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<b>&", "&lt;b&gt;&amp;"),
        ("pay \u202e001\u202c", "pay [U+202E]001[U+202C]"),
        ("a\u200bb\u00adc\ufeff", "a[U+200B]b[U+00AD]c[U+FEFF]"),
        ("ok" + " " * 300 + "rm", "ok [300 spaces] rm"),
        ("\U000e0064\ufe0f", "[U+E0064][U+FE0F]"),
        ("\ud800 \x07", "[U+D800] [U+0007]"),
        ("שלום עולם", "שלום עולם"),
        ("a" + "\u0301" * 8, "a" + "\u0301" * 6 + "[U+0301][U+0301]"),
    ],
)
def test_hidden_characters_are_shown_and_natural_text_is_left_alone(text: str, shown: str) -> None:
    plain = inert(text).replace('<span class="hidden-char">', "").replace("</span>", "")
    assert plain == f"<bdi>{shown}</bdi>"
    assert inert_text(text) == shown.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def test_blanks_push_nothing_out_of_sight_in_a_block_either() -> None:
    plain = block("a\n\nb" + "\n \t" * 30 + "c" + " " * 50 + "d\n    e")
    for shown in ("a\n\nb", "[30 line ends]", "[50 spaces]", "d\n    e"):
        assert shown in plain


def test_what_is_cut_says_how_much_was_cut() -> None:
    assert "cut: 200 of 20,000 characters" in inert("x" * 20_000)
    assert "cut: 4,000 of 20,000 characters" in block("x" * 20_000)
    assert len(block({"a": "x" * 10**6})) < 5000


def test_an_erased_or_missing_payload_is_shown_as_nothing() -> None:
    assert words(None) == ""
    assert words({"why": "because", "empty": "", "steps": [{"step": "a", "to": "done"}]}) == (
        "<bdi>why: because; steps: step a, to done</bdi>"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"amount": 48000, "currency": "EUR"}, "EUR</bdi> 480.00"),
        ({"amount": 5, "currency": "EUR"}, "EUR</bdi> 0.05"),
        ({"amount": -1230, "currency": "USD"}, "USD</bdi> -12.30"),
        ({"amount": 1234567, "currency": "JPY"}, "JPY</bdi> 1,234,567"),
        ({"amount": 1, "currency": "KWD"}, "KWD</bdi> 0.001"),
    ],
)
def test_money_is_written_in_its_own_currencys_places(value: dict[str, Any], text: str) -> None:
    assert text in money(value)


def test_a_moment_is_said_in_utc_and_how_far_it_is() -> None:
    late = NOW + dt.timedelta(days=2)
    assert when(NOW.astimezone(dt.timezone(dt.timedelta(hours=5))), NOW) == (
        '<time datetime="2026-03-10T14:02:03.000Z" title="2026-03-10 14:02:03.000 UTC">14:02:03</time>'
    )
    assert ">12 Mar 14:02<" in when(late, NOW)
    assert [span(late, NOW), span(NOW - dt.timedelta(minutes=90), NOW), span(NOW, NOW)] == [
        "in 2 d",
        "90 min ago",
        "in 0 ms",
    ]
    assert "–" in when(None)


def test_places_in_time_keep_their_order_and_fit_the_width() -> None:
    steps = [0, 0.001, 0.5, 0.5, 7200, 7200.1]
    moments = sorted({NOW + dt.timedelta(seconds=s) for s in steps})
    scale = Scale(moments)
    places = [scale(moment) for moment in moments]
    assert places == sorted(places)
    assert (places[0], places[-1]) == (150.0, 850.0)
    assert [text for _, text in scale.gaps()] == ["120 min"], "as its table says it"


@pytest.mark.django_db
def test_a_person_is_made_with_roles_and_a_password_that_must_be_changed(client: Client) -> None:
    out = io.StringIO()
    call_command("create_person", "repairer", "--roles", "repairer", "approver", "--json", stdout=out)
    made = json.loads(out.getvalue())
    assert (made["person"], made["roles"]) == ("repairer", ["approver", "repairer"])
    user = User.objects.get(username="repairer")
    assert sorted(user.groups.values_list("name", flat=True)) == ["approver", "repairer"]
    answer = client.post(
        "/admin/login/", {"username": "repairer", "password": made["password"], "next": "/"}, follow=True
    )
    assert "Choose your own password" in answer.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "roles", "message"),
    [
        ("repairer", ["king"], "roles: is no role; there are repairer, approver, manager"),
        ("a b", ["repairer"], "login: can't be a login; use 1 to 80"),
        ("approver", ["repairer"], "approver has a login already. A new password: manage.py changepassword approver"),
    ],
)
def test_a_person_who_can_not_be_made_is_refused_by_name(name: str, roles: list[str], message: str) -> None:
    User.objects.create_user("approver")
    with pytest.raises(CommandError, match=message.replace(".", r"\.")):
        call_command("create_person", name, "--roles", *roles)
    assert User.objects.count() == 1

"""The doors people come in by: guessing ends, nobody is led elsewhere, and no page lets another's content act."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

pytestmark = pytest.mark.django_db
Make = Callable[..., Any]
LOGIN = "/admin/login/"


@pytest.fixture(autouse=True)
def _quick_hashes(settings: Any) -> None:
    """What makes guessing slow makes these tests slow too, and isn't what they are about."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def enter(client: Client, password: str, to: str = "/") -> Any:
    return client.post(LOGIN, {"username": "night-desk", "password": password, "next": to})


def test_after_ten_wrong_passwords_the_right_one_opens_nothing(person: Make) -> None:
    person("night-desk", "repairer")
    client = Client()
    for n in range(settings.AXES_FAILURE_LIMIT):
        assert enter(client, f"guess {n}").status_code in (200, 429)
    assert enter(client, "a long enough one").status_code == 429
    assert client.get("/").status_code == 302
    assert enter(Client(REMOTE_ADDR="10.0.0.9"), "a long enough one").status_code == 302, (
        "from elsewhere they still can"
    )


@pytest.mark.parametrize(
    "to",
    ["https://evil.example/", "//evil.example", "javascript:alert(1)", "/\\evil.example", "http:evil.example", "\x00"],
)
def test_nobody_is_led_elsewhere_after_the_login(person: Make, to: str) -> None:
    person("night-desk", "repairer")
    answer = enter(Client(), "a long enough one", to)
    assert answer.status_code == 302
    assert answer["Location"] == "/"


@pytest.mark.parametrize("path", ["/", LOGIN, "/no/such/page/", "/health/live", "/api/v1/runs", "/api/v1/schema/"])
def test_every_answer_forbids_guessing_its_type_framing_it_and_foreign_scripts(path: str) -> None:
    answer = Client().get(path)
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["Referrer-Policy"] == "same-origin"


def test_no_script_reads_the_session_and_no_other_site_sends_it(person: Make) -> None:
    person("night-desk", "repairer")
    cookies = enter(Client(), "a long enough one").cookies
    session = cookies[settings.SESSION_COOKIE_NAME]
    assert session["httponly"]
    assert session["samesite"] == "Lax"

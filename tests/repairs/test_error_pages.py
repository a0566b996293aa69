"""What is shown in place of a page: in the console's frame, with a way on; and nothing is asked where all is broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import connection
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from repairs.views import errors, home

pytestmark = pytest.mark.django_db
Make = Callable[..., Any]


@pytest.fixture
def client(person: Make, browse: Make) -> Client:
    found: Client = browse(person("repairer", "repairer"))
    found.raise_request_exception = False
    return found


def raising(error: Exception) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    return fail


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        ("/nowhere/", 404, "There is no such page"),
        ("/repairs/?view=all&after=cut", 400, "begin the list anew"),
        ("/repairs/7/claim", 405, "That is an act, not a page"),
        ("/people/", 403, "You may not do that"),
    ],
)
def test_a_person_who_went_astray_is_shown_no_way_on(client: Client, address: str, status: int, words: str) -> None:
    answer = client.get(address)
    page = answer.content.decode()
    assert answer.status_code == status
    assert words in page
    for piece in ('href="/repairs/"', 'href="/runs/"', "Log out", "</footer>"):
        assert piece in page, piece


def test_a_refusal_does_not_say_which_role_it_takes(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "show", raising(PermissionDenied("This takes the role <b>operator</b>.")))
    answer = client.get("/")
    assert answer.status_code == 403
    assert "This takes the role &lt;b&gt;operator&lt;/b&gt;." in answer.content.decode()


def test_what_is_too_large_is_called_a_bad_address(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "show", raising(RequestDataTooBig("more than settings.X")))
    answer = client.get("/")
    assert answer.status_code == 413
    assert "That is more than is taken" in answer.content.decode()
    assert "settings.X" not in answer.content.decode()


def test_a_form_that_is_too_old_is_answered_without_the_frame(person: Make) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(person("repairer", "repairer"), backend="django.contrib.auth.backends.ModelBackend")
    answer = strict.post("/repairs/7/claim")
    assert answer.status_code == 403
    assert "This form is too old" in answer.content.decode()
    assert "Log out" in answer.content.decode()


def test_the_page_of_what_broke_asks_the_database_that_may_have_broken(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home, "show", raising(RuntimeError("secret words of a traceback")))
    answer = client.get("/")
    page = answer.content.decode()
    assert answer.status_code == 500
    assert "Something broke on our side" in page
    assert 'aria-label="Console"' in page, "there is no way on"
    assert "secret words" not in page
    with CaptureQueriesContext(connection) as seen:
        errors.broken(RequestFactory().get("/"))
    assert len(seen) == 0


def test_a_request_that_is_refused_before_anybody_is_known_breaks_its_own_page() -> None:
    request: HttpRequest = RequestFactory().get("/")
    assert errors.bad_request(request, RequestDataTooBig()).status_code == 413
    assert Client(headers={"host": "elsewhere.example"}).get("/").status_code == 400

"""What the health addresses say."""

import pytest
from django.test import Client

from config import health


@pytest.mark.django_db
def test_ready_answers_200_when_the_database_is_there_and_migrated(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "CHECKS", {"queue": lambda: ""})
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.json()) == (200, {"status": "ready", "problems": {}})
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]


@pytest.mark.django_db
def test_ready_answers_503_and_names_what_is_deaf(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "CHECKS", {"queue": lambda: "It is deaf."})
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.json()) == (503, {"status": "not ready", "problems": {"queue": "It is deaf."}})


def test_live_answers_200_without_a_database(client: Client) -> None:
    assert client.get("/health/live").json() == {"status": "live"}

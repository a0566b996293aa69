"""What the health addresses say."""

import pytest
from django.test import Client


@pytest.mark.django_db
def test_ready_answers_200_when_the_database_is_there_and_migrated(client: Client) -> None:
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.json()) == (200, {"status": "ready", "problems": {}})
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]


def test_live_answers_200_without_a_database(client: Client) -> None:
    assert client.get("/health/live").json() == {"status": "live"}

"""What stands in the way of a start is said in a plain sentence: the setting, its value, the way out, no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from psycopg import sql

from config import database
from config.house import cluster, folder
from config.house.errors import SetupError
from config.house.folder import ROOT
from tests.house import spaces
from tests.house.running import environment, manage

COMMANDS = (["up", "--no-demo"], ["doctor", "--json"], ["create_agent", "somebody"])
PASSWORD = "not-to-be-shown"


def refused(answer: subprocess.CompletedProcess[str], *words: str) -> None:
    said = answer.stdout + answer.stderr
    assert answer.returncode == 1, said
    assert "Traceback" not in said
    assert PASSWORD not in said
    for word in words:
        assert word in said


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_database_that_does_not_answer_is_named(command: list[str], tmp_path: Path) -> None:
    port = cluster.free_port()
    url = f"postgresql://somebody:{PASSWORD}@127.0.0.1:{port}/makegood"
    answer = manage(*command, data=tmp_path, DATABASE_URL=url)
    refused(
        answer,
        "The database does not answer: ",
        f"postgresql://somebody:…@127.0.0.1:{port}/makegood".replace("…", "\\u2026" if "--json" in command else "…"),
        "Start that PostgreSQL, correct DATABASE_URL, or unset it for the embedded PostgreSQL.",
    )


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("sqlite:///makegood.sqlite3", "it begins with 'sqlite', not with postgresql://"),
        ("postgresql://127.0.0.1:five/makegood", "its port is not a number"),
        ("postgresql://127.0.0.1:5432", "it names no database"),
    ],
)
def test_an_address_that_cannot_be_read_is_named(url: str, problem: str) -> None:
    with pytest.raises(SetupError) as caught:
        database.settings_of(url)
    said = str(caught.value)
    assert f"DATABASE_URL can't be read: {problem}" in said
    assert f"setting: DATABASE_URL = {url}" in said
    assert "way out: Write it as" in said


@pytest.fixture
def empty_database() -> Iterator[str]:
    """A database without tables, beside the one of the tests."""
    given = settings.DATABASES["default"]
    words = {key.lower(): given[key] for key in ("HOST", "PORT", "USER", "PASSWORD") if given[key]}
    name = f"empty_{os.getpid()}"
    with psycopg.connect(dbname="postgres", autocommit=True, **words) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        secret = f":{given['PASSWORD']}" if given["PASSWORD"] else ""
        yield f"postgresql://{given['USER']}{secret}@{given['HOST']}:{given['PORT']}/{name}"
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def test_missing_migrations_are_named(empty_database: str, tmp_path: Path) -> None:
    for command in (["create_agent", "somebody"], ["doctor"]):
        answer = manage(*command, data=tmp_path, DATABASE_URL=empty_database)
        refused(answer, "migrations are not applied to this database, the first is ", "manage.py migrate")
        assert f"/{Path(empty_database).name}" in answer.stdout + answer.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_data_folder_that_is_a_file_is_named(command: list[str], tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    answer = manage(*command, data=file)
    refused(
        answer, f"The data folder can't be used: {file}: ", "MAKEGOOD_DATA", "Name a folder that this user may write"
    )
    if "--json" in command:
        assert json.loads(answer.stdout)["checks"][0]["value"] == str(file)


@pytest.mark.parametrize("command", [["up", "--no-demo"], ["doctor"]], ids=" ".join)
def test_a_data_folder_without_permission_is_named(command: list[str], tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o500)
    words = [sys.executable, str(ROOT / "manage.py"), *command]
    if os.geteuid() == 0:  # root may write anywhere: be somebody else
        answer = spaces.as_user("nobody", words, env={"MAKEGOOD_DATA": str(data), "DATABASE_URL": ""})
    else:
        answer = subprocess.run(words, env=environment(data), capture_output=True, text=True, check=False)
    refused(answer, f"The data folder can't be used: {data}: ", f"setting: MAKEGOOD_DATA = {data}", "way out: ")


def test_a_setting_with_a_wrong_value_is_named(tmp_path: Path) -> None:
    answer = manage("doctor", data=tmp_path, FOUR_EYES="never")
    problem = "FOUR_EYES must be one of: required, when_possible."
    refused(answer, problem, "setting: FOUR_EYES = never", "way out: Set it to ")


def test_a_damaged_secret_is_named_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "install-secret").write_text("short")
    with pytest.raises(SetupError, match="is damaged") as caught:
        folder.secret("install-secret", tmp_path)
    assert "Put the file back from a backup" in str(caught.value)
    assert (tmp_path / "install-secret").read_text() == "short"


@pytest.mark.parametrize("command", [["help"], ["makemigrations", "--check", "--dry-run"]], ids=" ".join)
def test_commands_that_read_only_code_start_no_database(command: list[str], tmp_path: Path) -> None:
    answer = manage(*command, data=tmp_path)
    assert "Traceback" not in answer.stderr
    assert not list(tmp_path.glob("postgres*"))

"""The embedded PostgreSQL: who starts it, who ends it, as whom it runs, and that it is the right one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from config.house import cluster, keeper, postgres, processes
from config.house.errors import SetupError
from config.house.folder import ROOT
from tests.house import spaces
from tests.house.running import wait

JOIN = """
import sys, pathlib, psycopg
from config.house import postgres
lease = postgres.join(pathlib.Path(sys.argv[1]), careless=True)
print(psycopg.connect(lease.url).execute("SHOW data_directory").fetchone()[0], flush=True)
sys.stdin.read()
"""


@pytest.fixture
def lease(tmp_path: Path) -> Iterator[postgres.Lease]:
    lease = postgres.join(tmp_path, careless=True)
    yield lease
    lease.close(wait=True)


def server(folder: Path) -> tuple[int, str]:
    pid, since = json.loads((folder / postgres.ADDRESS).read_text())["postmaster"]
    return pid, since


def test_the_server_stays_for_the_second_user_and_goes_with_the_last(tmp_path: Path, lease: postgres.Lease) -> None:
    second = postgres.join(tmp_path, careless=True)
    assert second.url == lease.url
    lease.close()
    with psycopg.connect(second.url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    running = server(tmp_path)
    second.close(wait=True)
    assert not processes.alive(*running)
    assert postgres.address(tmp_path) is None


def test_the_server_goes_when_its_user_is_killed(tmp_path: Path) -> None:
    user = subprocess.Popen(
        [sys.executable, "-c", JOIN, str(tmp_path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with user:
        assert user.stdout
        assert user.stdout.readline().decode().strip() == str(tmp_path / "postgres")
        running = server(tmp_path)
        user.kill()
        user.communicate()
    wait(lambda: not processes.alive(*running), lambda: "the server stayed")


def test_a_server_whose_keeper_was_killed_is_replaced_by_the_next_user(tmp_path: Path, lease: postgres.Lease) -> None:
    left = server(tmp_path)
    with psycopg.connect(lease.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    processes.end([lease.keeper], gently=signal.SIGKILL, patience=10)
    assert not lease.holds()
    assert processes.alive(*left)
    lease.close()
    second = postgres.join(tmp_path, careless=True)
    try:
        assert not processes.alive(*left)
        with psycopg.connect(second.url) as connection:
            assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)
    finally:
        second.close(wait=True)


def test_a_half_made_cluster_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "postgres.draft-1").mkdir()
    (tmp_path / "postgres.draft-1" / "PG_VERSION").write_text("18\n")
    postgres.join(tmp_path, careless=True).close(wait=True)
    assert [path.name for path in tmp_path.glob("postgres.draft*")] == []
    assert (tmp_path / "postgres" / "PG_VERSION").exists()


def test_a_lock_file_with_the_number_of_another_program_keeps_nobody_out(tmp_path: Path) -> None:
    postgres.join(tmp_path, careless=True).close(wait=True)
    (tmp_path / "postgres" / "postmaster.pid").write_text(f"{os.getpid()}\n{tmp_path / 'postgres'}\n")
    postgres.join(tmp_path, careless=True).close(wait=True)


def test_a_foreign_server_on_the_port_is_not_taken_for_ours(
    tmp_path: Path, lease: postgres.Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Same role, same password, same database: only the cluster's own number tells them apart."""
    ours = tmp_path / "ours"
    ours.mkdir()
    (ours / postgres.PASSWORD).write_text((tmp_path / postgres.PASSWORD).read_text())
    ports = iter([lease.port, cluster.free_port()])
    monkeypatch.setattr(cluster, "free_port", lambda wanted: next(ports))
    running, found = keeper._bring_up(ours, careless=True)
    try:
        assert found["port"] != lease.port
        assert found["identifier"] != cluster.identifier(tmp_path / "postgres")
    finally:
        keeper._stop(running)


def test_a_cluster_of_another_version_is_left_alone_and_named(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("13\n")
    with pytest.raises(SetupError, match="made by PostgreSQL 13; the installed one is postgres"):
        postgres.join(tmp_path)


@pytest.mark.parametrize(
    ("user", "locale"), [("nobody", "en_GB.UTF-8"), (54321, "tlh")], ids=["an ordinary user", "a user without a name"]
)
def test_it_starts_for_every_user_whatever_the_locale(tmp_path: Path, user: str | int, locale: str) -> None:
    answer = spaces.as_user(user, [sys.executable, "-c", JOIN, str(tmp_path)], env={"LANG": locale, "LC_ALL": locale})
    assert answer.stdout.strip() == str(tmp_path / "postgres"), answer.stderr


def test_root_without_user_namespaces_runs_it_as_an_existing_user_in_a_folder_that_it_can_reach(tmp_path: Path) -> None:
    data, outside = tmp_path / "data", tmp_path / "var-lib"
    data.mkdir(mode=0o700)
    outside.mkdir()
    command = [sys.executable, "-c", JOIN, str(data)]
    first = spaces.without_user_namespaces(command, over_var_lib=outside)
    assert first.stdout.startswith("/var/lib/makegood/"), first.stderr
    assert not (data / "postgres").exists()
    again = spaces.without_user_namespaces(command, over_var_lib=outside)
    assert again.stdout == first.stdout, again.stderr

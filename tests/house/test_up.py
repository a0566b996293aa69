"""`make up` on real processes: killed, started again, interrupted, and what it says when something is in the way."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.house import cluster, processes
from config.house.folder import ROOT
from tests.house.running import Up, make_up, manage

PARTS = (
    "manage.py",
    "Makefile",
    "requirements.txt",
    "scripts",
    "config",
    "workflows",
    "repairs",
    "templates",
    "static",
    "examples",
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of this checkout in a path longer than a socket's name may be, with blanks and a letter beyond ASCII."""
    folder = tmp_path / ("a house with blanks, ü and a long name " * 4).strip() / "makegood"
    folder.mkdir(parents=True)
    for part in filter(Path.exists, (ROOT / name for name in PARTS)):
        if part.is_dir():
            shutil.copytree(part, folder / part.name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(part, folder)
    (folder / ".venv").symlink_to(ROOT / ".venv")
    return folder


def test_a_killed_group_starts_again_a_second_later_on_the_same_port_and_data_and_ctrl_c_leaves_nothing(
    checkout: Path,
) -> None:
    data, port = checkout / ".data", cluster.free_port()
    with make_up(data, port, checkout=checkout) as first:
        first.wait_ready()
        before = first.family()
        secret = (data / "install-secret").read_text()
        first.signal_group(signal.SIGKILL)
        first.process.wait()
        time.sleep(1)  # the promise itself: a second later, whatever still lives then
        with make_up(data, port, checkout=checkout) as second:
            second.wait_ready()
            after = second.family()
            assert set(after) == set(before) == {"web", "queue", "postgres"}
            assert not any(processes.alive(*one) for one in before.values())
            assert (data / "install-secret").read_text() == secret
            second.signal_group(signal.SIGINT)
            second.wait(lambda: second.process.poll() is not None, "Ctrl-C did not end it")
            assert not any(processes.alive(*one) for one in after.values())
            assert list((data / "run").iterdir()) == []
            assert cluster.free_port(port) == port


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with make_up(tmp_path_factory.mktemp("running") / "data", cluster.free_port()) as up:
        up.wait_ready()
        yield up


@pytest.mark.parametrize("name", ["web", "queue", "postgres"])
def test_a_killed_child_is_started_again_and_said(running: Up, name: str) -> None:
    running.wait_ready()
    running.wait(lambda: name in running.family(), "it was not back since its database was killed")
    victim = running.family()[name]
    processes.end([victim], gently=signal.SIGKILL, patience=10)
    said = "The embedded PostgreSQL ended" if name == "postgres" else f"{name} ended"
    running.wait(lambda: running.said(said), "it did not say so")
    running.wait(lambda: running.family().get(name, victim) != victim and running.ready(), "it did not come back")


def test_a_command_joins_the_database_that_up_runs(running: Up) -> None:
    running.wait_ready()
    answer = manage("showmigrations", "--plan", data=running.data)
    assert answer.returncode == 0, answer.stderr
    assert "[ ]" not in answer.stdout
    assert running.ready()


def test_doctor_finds_nothing_wrong_with_a_running_makegood(running: Up) -> None:
    running.wait_ready()
    answer = manage("doctor", "--json", f"--port={running.port}", data=running.data)
    assert (answer.returncode, [c for c in json.loads(answer.stdout)["checks"] if not c["ok"]]) == (0, [])


def test_a_second_up_on_the_same_folder_says_who_runs_there(running: Up) -> None:
    answer = manage("up", f"--port={cluster.free_port()}", "--no-demo", data=running.data)
    assert answer.returncode == 1
    assert "Makegood already runs from this data folder: process " in answer.stderr
    assert f"http://127.0.0.1:{running.port}/" in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize("command", ["up", "doctor"])
def test_a_taken_port_is_named_with_the_way_out(command: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        answer = manage(command, f"--port={port}", data=tmp_path)
    said = answer.stderr + answer.stdout
    assert answer.returncode == 1
    assert f"Port {port} on 127.0.0.1 can't be used: Address already in use." in said
    assert f"--port = {port}" in said
    assert "way out: End the program that listens there" in said
    assert "Traceback" not in said
    assert not (tmp_path / "postgres").exists()


def test_make_names_a_missing_python(checkout: Path) -> None:
    answer = subprocess.run(
        ["make", "up", "PYTHON=python-that-is-not-there"], cwd=checkout, capture_output=True, text=True, check=False
    )
    assert answer.returncode != 0
    assert "python-that-is-not-there is missing. way out: apt install python3 python3-venv" in answer.stderr

"""Children of `up`: ended by their pipe, by force if need be, and found again when nobody was left to end them."""

from __future__ import annotations

import json
import os
import signal
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from config.house import children, processes
from config.house.children import Child
from config.house.family import Family
from tests.house.running import wait

# Writes its own number and that of a child of its own, and does not end when asked to.
STUBBORN = """
import os, pathlib, signal, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "600"])
draft = pathlib.Path(sys.argv[1] + ".draft")
draft.write_text(f"{os.getpid()} {child.pid}")
draft.rename(sys.argv[1])
signal.pause()
"""
# Ends by itself as soon as it hears that its program is being stopped, whatever signals it gets.
LISTENING = """
import pathlib, signal, sys, time
from config.house import stopping
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path(sys.argv[1]).touch()
while not stopping.asked():
    time.sleep(0.02)
sys.exit(3)
"""
GRACE = 0.2  # seconds: these never use it
LONG = 60.0  # seconds: these end at once


def program(text: str, *words: str) -> list[str]:
    return [sys.executable, "-c", textwrap.dedent(text), *words]


@pytest.fixture
def stubborn(tmp_path: Path) -> Iterator[tuple[Child, list[tuple[int, str]]]]:
    """A child that must be killed, and the identities of the two processes of its group."""
    told = tmp_path / "told"
    child = Child("stubborn", program(STUBBORN, str(told)), GRACE)
    child.start(tmp_path, {})
    wait(told.exists, lambda: "it did not start")
    group = [(int(pid), processes.started(int(pid))) for pid in told.read_text().split()]
    yield child, group
    child.ask_to_end()
    child.wait_ended()
    processes.end(group, gently=signal.SIGKILL, patience=10)


def test_a_child_ends_with_all_that_it_started_when_its_pipe_closes(
    stubborn: tuple[Child, list[tuple[int, str]]], tmp_path: Path
) -> None:
    child, group = stubborn
    assert all(processes.alive(*one) for one in group)
    child.ask_to_end()
    child.wait_ended()
    assert processes.wait_gone(group, 10) == []
    assert list((tmp_path / children.RECORDS).iterdir()) == []


def test_what_lost_its_holder_is_ended_by_the_next_start(
    stubborn: tuple[Child, list[tuple[int, str]]], tmp_path: Path
) -> None:
    child, group = stubborn
    assert child.holder
    child.holder.kill()
    child.holder.wait()
    assert children.end_leftovers(tmp_path) == ["stubborn"]
    assert processes.wait_gone(group, 10) == []
    assert children.end_leftovers(tmp_path) == []


def test_the_rest_of_a_group_is_ended_even_when_its_leader_is_gone(
    stubborn: tuple[Child, list[tuple[int, str]]], tmp_path: Path
) -> None:
    child, (leader, member) = stubborn
    assert child.holder
    child.holder.kill()
    processes.end([leader], gently=signal.SIGKILL, patience=10)
    assert processes.alive(*member)
    assert children.end_leftovers(tmp_path) == ["stubborn"]
    assert processes.wait_gone([member], 10) == []


def test_a_process_that_has_the_number_of_an_earlier_child_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / children.RECORDS).mkdir()
    record = tmp_path / children.RECORDS / "web.json"
    parent = psutil.Process().ppid()
    record.write_text(json.dumps({"holder": [parent, "long ago"], "command": [os.getpid(), "long ago"]}))
    assert children.end_leftovers(tmp_path) == []
    assert psutil.pid_exists(parent)
    assert not record.exists()


def test_long_work_in_a_child_hears_that_it_is_being_stopped(tmp_path: Path) -> None:
    child = Child("listening", program(LISTENING, str(tmp_path / "up")), LONG)
    holder = child.start(tmp_path, {})
    wait((tmp_path / "up").exists, lambda: "it did not start")
    child.ask_to_end()
    child.wait_ended()
    assert holder.returncode == 3


def test_children_get_to_know_what_those_before_them_tell(tmp_path: Path) -> None:
    places, seen = tmp_path / "places.json", tmp_path / "seen"
    tell = """
        import pathlib, signal, sys
        pathlib.Path(sys.argv[1]).write_text(sys.argv[2])
        signal.pause()
    """
    see = "import os, pathlib, sys; pathlib.Path(sys.argv[1]).write_text(os.environ['PLACE'])"
    lines: list[str] = []
    family = Family(
        [
            Child("teller", program(tell, str(places), json.dumps({"PLACE": "over there"})), LONG, tells=places),
            Child("seer", program(see, str(seen)), LONG, once=True),
        ],
        tmp_path,
        lines.append,
    )

    def done() -> bool:
        family.start_due({})
        family.wait(0.05)
        return seen.exists() and seen.read_text() == "over there"

    try:
        wait(done, lambda: f"it saw nothing; {lines}")
    finally:
        family.end()


def test_who_ends_by_itself_is_started_again_later_and_later(tmp_path: Path) -> None:
    lines: list[str] = []
    family = Family([Child("failing", ["false"], GRACE)], tmp_path, lines.append)

    def twice() -> bool:
        family.start_due({})
        family.wait(0.05)
        return len(lines) >= 2

    try:
        wait(twice, lambda: f"{lines}")
    finally:
        family.end()
    assert lines == [f"failing ended (exit code 1); starting it again in {n} s." for n in (1, 2)]

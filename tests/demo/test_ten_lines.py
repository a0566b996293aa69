"""The README's ten lines work as they stand there."""

from __future__ import annotations

import runpy
from collections.abc import Callable

import pytest
from django.core.management import call_command

from examples.demo.agent import Api
from tests.demo.conftest import EXAMPLES
from tests.demo.sights import Outside


@pytest.mark.usefixtures("at_work")
def test_ten_lines_of_manifest_and_ten_lines_of_agent_make_one_verified_effect(
    house: Callable[[str], Api],
    there: Outside,
    live_server: object,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    api = house("manifest_ten_lines.yaml")
    call_command("apply", EXAMPLES / "demo" / "manifest.yaml")  # it stands beside the demo
    capsys.readouterr()
    monkeypatch.setenv("MAKEGOOD_URL", api.url)
    monkeypatch.setenv("MAKEGOOD_KEY", api.key)
    agent = runpy.run_path(str(EXAMPLES / "agent_ten_lines.py"))
    agent["api"].close()
    assert capsys.readouterr().out.split("\n")[:2] == ["completed", "news.add: verified"]
    assert agent["run"]["clean"] is True
    (member,) = there.members("all")
    assert (member["contact"], member["mark"]) == ("office@acme.example", agent["run"]["effects"][0]["key"])


@pytest.mark.parametrize("file", ["manifest_ten_lines.yaml", "agent_ten_lines.py"])
def test_ten_lines_are_ten_and_stand_in_the_readme(file: str) -> None:
    words = (EXAMPLES / file).read_text()
    assert words in (EXAMPLES.parent / "README.md").read_text()
    lines = [line for line in words.splitlines() if line.strip()]
    assert len(lines) == 10

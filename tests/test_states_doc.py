"""`docs/states.md`, the code and the database say the same of every state and every move."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from repairs.models import Case
from workflows.models import Run, Step
from workflows.states import MOVES, CaseState, EffectState, Phase, RunState, StepState, World, pairs

TEXT = (Path(__file__).parent.parent / "docs" / "states.md").read_text(encoding="utf-8")
Moves = set[tuple[str, str, str]]


def table(heading: str, section: str) -> dict[str, str]:
    """{first cell: last cell} of the table in this section whose first heading is this."""
    part = TEXT.split(f"\n## {section}\n")[1].split("\n## ")[0]
    lines = part.split(f"\n| {heading} |")[1].split("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0].strip("`"): row[-1] for row in cells}


def moves(heading: str, section: str) -> Moves:
    return {
        (source, move, target)
        for source, leaves in table(heading, section).items()
        for move, target in re.findall(r"`(\w+)` → `(\w+)`", leaves)
    }


def of_model(model: Any, field: str) -> Moves:
    transitions = model._meta.get_field(field).get_all_transitions(model)
    return {(t.source, t.name, t.target) for t in transitions}


def words(values: Iterable[Any]) -> list[str]:
    return sorted(str(value) for value in values)


def test_the_page_tells_every_effect_state_and_how_it_is_left() -> None:
    assert words(table("state", "Effect")) == words(EffectState)
    assert moves("state", "Effect") == {(s.value, name, m.target.value) for name, m in MOVES.items() for s in m.sources}
    assert words(table("move", "Effect")) == words(MOVES)
    assert words(table("world", "Effect")) == words(World)


def test_the_drawing_shows_every_move_but_the_one_to_stuck() -> None:
    drawn = set(re.findall(r"^ +(\w+) --> (\w+): (?:a person, )?(\w+)$", TEXT, re.M))
    told = {(source, target, move) for source, move, target in moves("state", "Effect") if move != "stick"}
    assert drawn == told


@pytest.mark.parametrize(
    ("heading", "section", "model", "field", "states"),
    [
        ("state", "Step", Step, "state", StepState),
        ("phase", "Run", Run, "phase", Phase),
        ("case", "Case", Case, "state", CaseState),
    ],
)
def test_the_page_tells_every_move_of_steps_runs_and_cases(
    heading: str, section: str, model: Any, field: str, states: Any
) -> None:
    assert words(table(heading, section)) == words(states)
    assert moves(heading, section) == of_model(model, field)


def test_the_page_tells_every_word_for_a_run() -> None:
    assert words(table("run state", "Run")) == words(RunState)


@pytest.mark.django_db
def test_the_database_lets_pass_what_the_table_allows_and_nothing_else() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT prosrc FROM pg_proc WHERE proname = 'makegood_effect_moves'")
        (source,) = cursor.fetchone()
    assert set(re.findall(r"'(\w+)>(\w+)'", source)) == pairs()

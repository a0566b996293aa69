"""The demo and its outside world are outsiders: they could live in another repository."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
OURS = {"config", "workflows", "repairs", "tests", "django", "psycopg", "rest_framework", "django_q"}
FILES = sorted(EXAMPLES.rglob("*.py"))


def imported(file: Path) -> set[str]:
    """The first word of every import, also of those inside functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0] if not node.level else "examples")
    return names


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(EXAMPLES)))
def test_no_example_imports_anything_of_ours(file: Path) -> None:
    assert not imported(file) & OURS
    assert "import_module" not in file.read_text()


def test_the_agent_needs_nothing_but_the_standard_library() -> None:
    assert imported(EXAMPLES / "demo" / "agent.py") <= sys.stdlib_module_names

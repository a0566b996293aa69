"""docs/security.md: each test that it names exists, and each mitigation that is tested stands there."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "security.md").read_text(encoding="utf-8")
DEFINED = re.compile(r"^(?:async )?def (test_\w+)\(", re.MULTILINE)


def test_every_test_that_the_page_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    there = {name for file in TESTS.rglob("test_*.py") for name in DEFINED.findall(file.read_text(encoding="utf-8"))}
    assert len(named) > 50
    assert named - there == set()


def test_every_row_of_a_threat_names_a_test() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and line.count("|") == 4]
    threats = [line for line in rows if "`test_" in line]
    heads = [line for line in rows if re.search(r"\| test \|$", line)]
    dimensions = [line for line in rows if line not in threats and line not in heads]
    assert len(heads) == 6
    assert all("`test_" not in line for line in dimensions)
    assert {re.split(r" \| ", line)[0] for line in dimensions} == {
        f"| {word}"
        for word in (
            "dimension", "function", "access pattern", "risk, reversibility", "reliability", "modality", "monitoring",
            "autonomy", "privileges, owner",
        )
    }  # fmt: skip


def test_every_tested_mitigation_stands_on_the_page() -> None:
    tested = DEFINED.findall((TESTS / "security" / "test_llm06.py").read_text(encoding="utf-8"))
    numbers = {found[1] for name in tested if (found := re.match(r"test_llm06_(\d)_", name))}
    assert numbers == set("12345678")
    assert all(f"`{name}`" in PAGE for name in tested)

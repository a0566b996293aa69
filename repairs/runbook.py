"""Runbooks: for each cause of a case the steps that mend it, each with what is to be seen after it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from repairs.models import Act
from repairs.models.act import ActKind
from workflows.tools.reading import read

FOLDER = Path(__file__).parent / "runbooks"
UNDOING = "/undoing"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    number: int
    do: str
    expect: str

    @property
    def words(self) -> str:
        return f"{self.number}. {self.do}"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Runbook:
    """`causes`: codes of reasons; one that ends in "/undoing" is of undoings only, and goes before the plain one."""

    name: str
    version: int
    title: str
    causes: tuple[str, ...]
    steps: tuple[Step, ...]


@functools.cache
def runbooks() -> dict[str, Runbook]:
    """All of them, by name. They are part of the program: one that can't be read is our bug."""
    return {path.stem: _runbook(path) for path in sorted(FOLDER.glob("*.yaml"))}


def _runbook(path: Path) -> Runbook:
    told: dict[str, Any] = read(path.name, path.read_bytes()).value
    steps = tuple(Step(number=n, do=one["do"], expect=one["expect"]) for n, one in enumerate(told["steps"], start=1))
    causes = tuple(told["causes"])
    return Runbook(name=path.stem, version=told["version"], title=told["title"], causes=causes, steps=steps)


@functools.cache
def _by_cause() -> dict[str, Runbook]:
    return {cause: runbook for runbook in runbooks().values() for cause in runbook.causes}


def of_signature(signature: str) -> Runbook | None:
    """The one for a case, by what links it with others of its cause (see `repairs.words.cause`)."""
    code, _, undoing = signature.rpartition(": ")[2].partition(", ")
    return (_by_cause().get(f"{code}{UNDOING}") if undoing else None) or _by_cause().get(code)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A step and the last that was said of it in this version; None while nobody did it."""

    step: Step
    said: Act | None

    @property
    def deviated(self) -> bool:
        return self.said is not None and self.said.kind == ActKind.DEVIATE


def places(runbook: Runbook, acts: Sequence[Act]) -> list[Place]:
    """Where the work stands. `acts`: the newest first. What was ticked in an earlier version is history only."""
    said: dict[int, Act] = {}
    for act in acts:
        of = (act.facts.get("runbook"), act.facts.get("version"))
        if act.kind in (ActKind.TICK, ActKind.DEVIATE) and of == (runbook.name, runbook.version):
            said.setdefault(act.facts["step"], act)
    return [Place(step=step, said=said.get(step.number)) for step in runbook.steps]

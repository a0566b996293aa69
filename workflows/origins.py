"""Says of an effect, when it is made: what it is aimed at, and what of it stems from untrusted content. For `making`.

It is fixed with the arguments: policy reads it at every attempt, and nothing that is learnt later can wash it off."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from workflows.models import Effect, Run, Step
from workflows.policies import origin
from workflows.policies.origin import Source, Where
from workflows.toolbox import tool_of
from workflows.tools import expressions
from workflows.tools.call import Call
from workflows.tools.targets import BY_KIND, targets

GRAVEST_LAST = ("read_only", "bufferable", "reversible", "reversible_with_cost", "irreversible")

_marked: dict[uuid.UUID, bool] = {}  # whether a workflow's input has marked fields


def say(effect: Effect, run: Run, step: Step, steps: Sequence[Step], call: Call) -> None:
    """Fills in `origin`, `targets` and `chain_class`."""
    sources = _sources(run, steps)
    effect.origin = origin.stems(effect.arguments, sources, _references(step.template)) if sources else []
    effect.targets = [
        {**target, "untrusted": bool(sources) and _untrusted(target, effect, sources)}
        for target in targets(tool_of(step.tool), call)
    ]
    classes = {effect.effect_class, *(s.tool.spec["profile"]["effect_class"] for s in steps)}
    effect.chain_class = max(classes, key=GRAVEST_LAST.index)


def count(effect: Effect, earlier: Iterable[Effect]) -> None:
    """Fills in `reach`: how many different targets the run has, this effect's and those of its effects until now."""
    if effect.targets:
        effect.reach = len(_names(effect.targets) | {name for e in earlier for name in _names(e.targets)})


def as_of(effect: Effect, of: Effect) -> None:
    """An undoing is aimed at what was done, and what it says was said by that."""
    effect.origin, effect.targets = of.origin, of.targets
    effect.reach, effect.chain_class = of.reach, of.chain_class


def _sources(run: Run, steps: Sequence[Step]) -> list[Source]:
    found = origin.of_results(steps)
    workflow = run.workflow
    if workflow.id not in _marked:
        _marked[workflow.id] = "'x-untrusted'" in repr(workflow.spec["input"])
    if _marked[workflow.id]:
        found += origin.of_input(workflow.spec["input"], run.input)
    return found


def _references(template: Any) -> dict[Where, list[expressions.Path]]:
    """For each text of a step's template the paths that its expressions read."""
    return {
        where: _paths(text)
        for where, text in origin.leaves_of(template)
        if isinstance(text, str) and expressions.OPEN in text
    }


def _paths(text: str) -> list[expressions.Path]:
    return [path for source in expressions.parse(text).sources for path in expressions.paths(source)]


def _untrusted(target: dict[str, str], effect: Effect, sources: Sequence[Source]) -> bool:
    stained = {one["path"] for one in effect.origin}
    spec = effect.tool.spec
    declared = spec["execute"].get(target["path"]) if target["path"] in BY_KIND.get(spec["kind"], ()) else None
    if declared is None and target["path"] in stained:
        return True
    for _, text in origin.leaves_of(declared):
        for path in _paths(text) if isinstance(text, str) and expressions.OPEN in text else ():
            if path[0] == "args" and _below(path[1:], stained):
                return True
            if any(all(b is None or a == b for a, b in zip(s.path, path, strict=False)) for s in sources):
                return True
    return origin.says(target["value"], sources)


def _below(path: Sequence[Any], stained: set[str]) -> bool:
    """Whether what `args.…` reads is stained, holds something that is, or lies in something that is."""
    known = [str(part) for part in path if part is not None]
    here = ".".join(known)
    return any(one == here or one.startswith(f"{here}.") or here.startswith(f"{one}.") or not here for one in stained)


def _names(found: Iterable[dict[str, Any]]) -> set[tuple[str, str]]:
    """Targets as they are counted: the same account in another spelling is the same."""
    return {(one["kind"], origin.plain(one["value"]) or one["value"]) for one in found}

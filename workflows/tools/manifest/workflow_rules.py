"""What the shape can't say about a workflow: its graph, its tools, and what each step may know of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workflows.tools import schema
from workflows.tools.manifest.names import OF_A_STEP, RUN, SUBJECT, Checker, of_schema, read_paths, texts

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from workflows.errors import Flaw
    from workflows.tools.reading import Document
    from workflows.tools.reading.documents import Where

Spec = dict[str, Any]


def check(
    document: Document,
    where: Where,
    spec: Spec,
    *,
    env: Collection[str],
    tools: Mapping[str, Spec],
    broken: Collection[str],
) -> list[Flaw]:
    """Every flaw of one workflow. `tools`: specs by name; `broken`: names whose own flaws are told elsewhere."""
    fields = {"run": RUN, "subject": SUBJECT, "env": frozenset(env)}
    given = of_schema(spec["input"])
    checker = Checker(document, fields if given is None else {**fields, "input": given})
    if spec["gate"] == "rehearsal":
        checker.add(
            (*where, "gate"), "rehearsal", "can't be asked for until rehearsals exist; leave it out or say none"
        )
    for flaw in schema.flaws_of_schema(spec["input"], path="input"):
        checker.add((*where, *flaw.path.split(".")), flaw.value, flaw.message)
    steps = {step["name"]: step for step in spec["steps"]}
    _graph(checker, where, spec["steps"], steps)
    for number, step in enumerate(spec["steps"]):
        place = (*where, "steps", number)
        tool = tools.get(step["tool"])
        if tool is None and step["tool"] not in broken:
            checker.add((*place, "tool"), step["tool"], "is no tool here, nor one applied earlier")
        checker.templates((*place, "arguments"), step["arguments"], OF_A_STEP)
        _results(checker, place, step, steps, tools)
        if tool is not None:
            _arguments(checker, place, step["arguments"], tool["arguments"])
    return checker.flaws


def _graph(checker: Checker, where: Where, listed: list[Spec], steps: Mapping[str, Spec]) -> None:
    seen: set[str] = set()
    for number, step in enumerate(listed):
        if step["name"] in seen:
            checker.add((*where, "steps", number, "name"), step["name"], "stands here a second time")
        seen.add(step["name"])
        for position, name in enumerate(step["after"]):
            if name not in steps:
                place = (*where, "steps", number, "after", position)
                checker.add(place, name, f"is no step of this workflow; there are {', '.join(steps)}")
    for number, step in enumerate(listed):
        if step["name"] in _ancestors(step["name"], steps):
            checker.add((*where, "steps", number, "after"), step["after"], f"{step['name']} waits for itself: a cycle")


def _ancestors(name: str, steps: Mapping[str, Spec]) -> set[str]:
    found: set[str] = set()
    waiting = list(steps[name]["after"])
    while waiting:
        one = waiting.pop()
        if one not in found and one in steps:
            found.add(one)
            waiting += steps[one]["after"]
    return found


def _results(checker: Checker, place: Where, step: Spec, steps: Mapping[str, Spec], tools: Mapping[str, Spec]) -> None:
    """`steps.X.result.field`: X must be finished before this step begins, and its tool must give the field."""
    before = _ancestors(step["name"], steps)
    for at, path in read_paths(step["arguments"]):
        if path[0] != "steps":
            continue
        where, value = (*place, "arguments", *at), ".".join(map(str, path))
        name = path[1] if len(path) > 1 else None
        if name is None:
            checker.add(where, value, "must name a step, as steps.NAME.result")
        elif name not in steps:
            checker.add(where, value, f"speaks of a step {name} that this workflow doesn't have")
        elif name not in before:
            checker.add(where, value, f"speaks of {name}, which {step['name']} doesn't come after; add it to after")
        elif len(path) > 2 and path[2] != "result":
            checker.add(where, value, "has only a result: write steps.NAME.result")
        elif len(path) > 3:
            _field(checker, where, value, path[3], tools.get(steps[str(name)]["tool"]))


def _field(checker: Checker, where: Where, value: str, field: Any, tool: Spec | None) -> None:
    if tool is None or (given := _gives(tool)) is None or field is None or field in given:
        return
    checker.add(
        where, value, f"isn't in the result of that step's tool; there are {', '.join(sorted(given)) or 'none'}"
    )


def _gives(tool: Spec) -> set[str] | None:
    if tool["kind"] != "http":
        return {"smtp": {"message_id", "refused"}, "caldav": {"uid", "url", "etag"}}.get(tool["kind"])
    execute = tool["execute"]
    parts = (execute, execute.get("poll", {}), tool.get("verify", {}))
    return {name for part in parts for name in part.get("result", {})}


def _arguments(checker: Checker, place: Where, arguments: Spec, wanted: Spec) -> None:
    """What can be known of the arguments before any run: names, and every literal value."""
    where = (*place, "arguments")
    known = of_schema(wanted)
    for name in wanted.get("required", []):
        if name not in arguments:
            checker.add((*where, name), None, "is missing; the tool requires it")
    for name, value in arguments.items():
        properties = wanted.get("properties", {})
        if known is not None and name not in known and wanted.get("additionalProperties") is False:
            checker.add(
                (*where, name), value, f"is no argument of the tool; there are {', '.join(sorted(known)) or 'none'}"
            )
        elif name in properties and not any(True for _ in texts(value)) and "$ref" not in str(properties[name]):
            for flaw in schema.flaws(properties[name], value, root=name):
                checker.add((*where, *flaw.path.split(".")), flaw.value, flaw.message)

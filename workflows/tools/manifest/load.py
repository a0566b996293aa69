"""Whole manifests: read, shaped, checked and normalised before anything is written anywhere."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workflows.errors import Flaw, Invalid
from workflows.tools import environment
from workflows.tools.manifest import shapes, tool_rules, workflow_rules
from workflows.tools.manifest.normal import tool_spec, workflow_spec
from workflows.tools.reading import Document, read

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from workflows.tools.reading.documents import Where

Spec = dict[str, Any]
TOP = ("tools", "workflows")
TOOL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")
WORKFLOW_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
LONGEST_NAME = 100
# The workflow of runs that an agent opens without naming one.
BUILT_IN = frozenset({"adhoc"})
MOST_FLAWS = 50


@dataclasses.dataclass(frozen=True, slots=True)
class Manifest:
    """Normalised specs by name, ready to be stored. JSON values only."""

    tools: dict[str, Spec] = dataclasses.field(default_factory=dict)
    workflows: dict[str, Spec] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True)
class _Entry:
    document: Document
    name: str
    raw: Any

    def where(self, top: str) -> Where:
        return (top, self.name)


def load(
    paths: Iterable[str | Path],
    *,
    known_tools: Mapping[str, Spec] | None = None,
    env_names: Collection[str] | None = None,
    declared: Mapping[str, Spec] | None = None,
) -> Manifest:
    """The manifest of some files, as one. See `load_texts`; a file that can't be read is a flaw like any other."""
    texts: list[tuple[str, bytes]] = []
    for path in map(Path, paths):
        try:
            texts.append((str(path), path.read_bytes()))
        except OSError as error:
            raise Invalid(
                f"{path} can't be read: {error.strerror}", [Flaw(str(path), str(path), str(error.strerror))]
            ) from None
    return load_texts(texts, known_tools=known_tools, env_names=env_names, declared=declared)


def load_texts(
    texts: Iterable[tuple[str, str | bytes]],
    *,
    known_tools: Mapping[str, Spec] | None = None,
    env_names: Collection[str] | None = None,
    declared: Mapping[str, Spec] | None = None,
) -> Manifest:
    """The manifest of (file name, text) pairs, taken as one; `Invalid` with every flaw where anything is wrong.

    `known_tools`: specs applied earlier, which workflows may name. `env_names`: what `env.` may speak of, else the
    names in MAKEGOOD_ENV. `declared`: raw tools that Python classes declare themselves.
    """
    flaws: list[Flaw] = []
    documents = [read(file, text) for file, text in texts]
    tools = _entries(documents, "tools", flaws) | {
        name: _Entry(Document(f"class {raw['class']}"), name, raw) for name, raw in (declared or {}).items()
    }
    workflows = _entries(documents, "workflows", flaws)
    env = environment.names() if env_names is None else env_names
    every_name = {*tools, *(known_tools or {})}
    specs = dict(_tools(tools.values(), flaws, env, every_name))
    steps = {**(known_tools or {}), **specs}
    plans = dict(_workflows(workflows.values(), flaws, env, steps, broken=set(tools) - set(specs)))
    if flaws:
        more = f" (the first {MOST_FLAWS} are shown)" if len(flaws) > MOST_FLAWS else ""
        files = ", ".join(document.file for document in documents) or "the manifest"
        count = "One thing is" if len(flaws) == 1 else f"{len(flaws)} things are"
        raise Invalid(f"{count} wrong in {files}; nothing was applied{more}", flaws[:MOST_FLAWS])
    return Manifest(specs, plans)


def digest(spec: Spec) -> str:
    """64 hex digits over the canonical JSON of a normalised spec."""
    text = json.dumps(spec, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _entries(documents: list[Document], top: str, flaws: list[Flaw]) -> dict[str, _Entry]:
    found: dict[str, _Entry] = {}
    for document in documents:
        content = {} if document.value is None else document.value
        if not isinstance(content, dict):
            flaws += [document.flaw((), content, "must be a map with tools and workflows")] if top == TOP[0] else []
            continue
        if top == TOP[0]:
            flaws += [
                document.flaw((key,), content[key], "is no field here; there are tools, workflows")
                for key in content
                if key not in TOP
            ]
        part = content.get(top)
        if part is not None and not isinstance(part, dict):
            flaws.append(document.flaw((top,), part, "must be a map of names"))
            continue
        for name, raw in (part or {}).items():
            if name in found:
                flaws.append(document.flaw((top, name), name, f"stands in {found[name].document.file} too"))
            found.setdefault(name, _Entry(document, name, raw))
    return found


def _tools(
    entries: Iterable[_Entry], flaws: list[Flaw], env: Collection[str], names: Collection[str]
) -> Iterator[tuple[str, Spec]]:
    for entry in entries:
        where = entry.where("tools")
        if not TOOL_NAME.fullmatch(entry.name) or len(entry.name) > LONGEST_NAME:
            flaws.append(
                entry.document.flaw(where, entry.name, "must be parts of letters, digits, _ and -, joined by dots")
            )
        model, wrong = shapes.tool(entry.document, where, entry.raw)
        if model is not None:
            spec = tool_spec(model)
            raw = shapes.plain(model)
            wrong = tool_rules.check(entry.document, where, raw, spec, env=env, tools=names)
            if not wrong:
                yield entry.name, spec
        flaws += wrong


def _workflows(
    entries: Iterable[_Entry],
    flaws: list[Flaw],
    env: Collection[str],
    tools: Mapping[str, Spec],
    broken: Collection[str],
) -> Iterator[tuple[str, Spec]]:
    for entry in entries:
        where = entry.where("workflows")
        if not WORKFLOW_NAME.fullmatch(entry.name) or len(entry.name) > LONGEST_NAME or entry.name in BUILT_IN:
            flaws.append(
                entry.document.flaw(
                    where, entry.name, f"can't be the name of a workflow ({', '.join(BUILT_IN)} is built in)"
                )
            )
        model, wrong = shapes.workflow(entry.document, where, entry.raw)
        if model is not None:
            spec = workflow_spec(model)
            wrong = workflow_rules.check(entry.document, where, spec, env=env, tools=tools, broken=broken)
            yield entry.name, spec
        flaws += wrong

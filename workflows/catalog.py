"""Writes what manifests declare, whole or nothing, and says what changed. Called by `apply`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from django.db import transaction

from workflows import rows
from workflows.authority import versions
from workflows.errors import Flaw, Invalid
from workflows.making import canonical_digest
from workflows.models import Tool, Workflow
from workflows.signals import gaps_of_workflows

if TYPE_CHECKING:
    from workflows.tools.manifest import Manifest


@dataclasses.dataclass(slots=True)
class Changes:
    """Names with versions, as `name vN`."""

    added: list[str] = dataclasses.field(default_factory=list)
    changed: list[str] = dataclasses.field(default_factory=list)
    unchanged: list[str] = dataclasses.field(default_factory=list)
    gaps: list[tuple[str, str, str]] = dataclasses.field(default_factory=list)  # (workflow, step, what nothing covers)


def apply(manifest: Manifest, *, check: bool = False) -> Changes:
    """A new version becomes the current one; runs that began keep theirs. With `check` nothing is written.

    Raises `Invalid` where a version is there with other content, or is older than the current one."""
    changes = Changes()
    flaws: list[Flaw] = []
    with transaction.atomic():
        for model, kind, specs in (
            (Tool, "tools", manifest.tools),
            (Workflow, "workflows", manifest.workflows),
        ):
            current = {row.name: row for row in model.objects.filter(current=True).select_for_update()}
            for name, spec in specs.items():
                _one(model, kind, name, spec, current.get(name), changes, flaws, check=check)
        if flaws:
            raise Invalid("the manifest was refused; nothing was written", flaws)
        changes.gaps = _gaps(manifest)
    return changes


def _gaps(manifest: Manifest) -> list[tuple[str, str, str]]:
    """Of the workflows declared here, with the tools of now and here; asked of whoever tells failure stories."""
    there = Tool.objects.filter(current=True).values_list("name", "version", "spec")
    tools = {name: (version, spec) for name, version, spec in there}
    tools |= {name: (spec["version"], spec) for name, spec in manifest.tools.items()}
    answers: Any = gaps_of_workflows.send(sender=Workflow, workflows=manifest.workflows, tools=tools)
    return [gap for _receiver, gaps in answers for gap in gaps]


def known_tools() -> dict[str, dict[str, Any]]:
    return dict(Tool.objects.filter(current=True).values_list("name", "spec"))


def _one(
    model: type[Tool] | type[Workflow],
    kind: str,
    name: str,
    spec: dict[str, Any],
    current: Tool | Workflow | None,
    changes: Changes,
    flaws: list[Flaw],
    *,
    check: bool,
) -> None:
    version, digest = spec["version"], canonical_digest(spec)
    title = f"{name} v{version}"
    same = model.objects.filter(name=name, version=version).first()
    if name == "adhoc" and kind == "workflows":
        flaws.append(Flaw(f"{kind}.{name}", name, "is built in; choose another name"))
    elif same is not None and same.digest == digest:
        changes.unchanged.append(title)
    elif same is not None:
        message = f"is there with other content ({same.digest[:12]}…, here {digest[:12]}…); raise the version"
        flaws.append(Flaw(f"{kind}.{name}.version", version, message))
    elif current is not None and current.version > version:
        flaws.append(Flaw(f"{kind}.{name}.version", version, f"is older than the current version {current.version}"))
    else:
        (changes.added if current is None else changes.changed).append(title)
        if check:
            return
        if current is not None:
            model.objects.filter(pk=current.pk).update(current=False)
            if kind == "tools":
                versions.look_again([current.pk], rows.now())  # what waits for persons must not go by the old one
        owner = spec["profile"]["owner"] if kind == "tools" else spec["owner"]
        extra = {"kind": spec["kind"]} if kind == "tools" else {}
        model.objects.create(name=name, version=version, digest=digest, spec=spec, owner=owner, **extra)

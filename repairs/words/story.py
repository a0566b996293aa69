"""The failure story of a workflow: of each step, what happens when it goes wrong, and where nobody would know. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from repairs.words import traits
from repairs.words.marked import _
from repairs.words.traits import Spec


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One step. `tool` is None where its tool isn't declared; `gaps` are what nothing covers."""

    step: str
    name: str
    version: int | None = None
    reversible: str = ""
    verified: str = ""
    once: str = ""
    undone: str = ""
    undoing_verified: str = ""
    remains: str = ""
    repairs: str = ""
    gaps: tuple[str, ...] = ()


def story(workflow: Spec, tools: Mapping[str, tuple[int, Spec]]) -> list[Line]:
    """A line a step. `tools`: version and spec of each tool that is there now."""
    names = [(str(step.get("name")), str(step.get("tool"))) for step in steps_of(workflow)]
    return [line(workflow, step, name, tools, last=(step, name) == names[-1]) for step, name in names]


def gaps_in(workflows: Mapping[str, Spec], tools: Mapping[str, tuple[int, Spec]]) -> list[tuple[str, str, str]]:
    """(workflow, step, what nothing covers) of all of them."""
    return [
        (name, line.step, gap) for name, spec in workflows.items() for line in story(spec, tools) for gap in line.gaps
    ]


def steps_of(workflow: Spec) -> Sequence[Spec]:
    return [step for step in workflow.get("steps") or [] if isinstance(step, dict)]


def line(workflow: Spec, step: str, name: str, tools: Mapping[str, tuple[int, Spec]], *, last: bool) -> Line:
    if name not in tools:
        return Line(step=step, name=name, gaps=(_("Its tool is not declared; a run that begins now stops here."),))
    version, spec = tools[name]
    profile = traits.profile(spec)
    return Line(
        step=step,
        name=name,
        version=version,
        reversible=traits.class_words(str(profile.get("effect_class", ""))),
        verified=traits.looked(spec),
        once=traits.once(spec),
        undone=traits.undone(spec),
        undoing_verified=traits.undoing_looked(spec),
        remains=traits.remains(spec),
        repairs=str(profile.get("owner", "")),
        gaps=tuple(gaps(workflow, spec, last=last)),
    )


def gaps(workflow: Spec, spec: Spec, *, last: bool = False) -> list[str]:
    """What nothing covers, each in a sentence that says what follows from it."""
    if traits.reads_only(spec):
        return []
    found: list[str] = []
    profile, undoing = traits.profile(spec), spec.get("compensate")
    looks = bool(spec.get("verify")) and profile.get("observability") == "authoritative_read"
    idempotency: Spec = spec.get("idempotency") or {}
    keyed = idempotency.get("by") == "native_key"
    if not looks and not keyed:
        found.append(
            _("After a lost answer nobody can know whether it happened; it isn't sent again, and a person asks.")
        )
    elif not looks:
        found.append(_("No look shows that it happened: it stays the provider's word."))
    deadline, retention = workflow.get("deadline"), idempotency.get("retention")
    if keyed and shorter(retention, deadline):
        found.append(
            _(
                "The provider forgets our key after {time}, before the workflow's deadline of {deadline}.",
                time=traits.length(retention),
                deadline=traits.length(deadline),
            )
        )
    if undoing:
        if not undoing.get("verify"):
            found.append(_("Its undoing can't be looked at: that it is gone stays the provider's word."))
        if shorter(undoing.get("window"), deadline):
            window = traits.length(undoing.get("window"))
            found.append(_("It can be undone for {time} only, less than the workflow's deadline.", time=window))
    elif not last and workflow.get("on_failure") == "compensate" and workflow.get("after_irreversible") != "compensate":
        found.append(_("When a later step fails it stands, and a person decides."))
    return found


def shorter(one: Any, other: Any) -> bool:
    return isinstance(one, int | float) and isinstance(other, int | float) and one < other


ON_FAILURE = {
    "compensate": _("what stands is compensated, the last first"),
    "forward": _("it is tried again within its limits, then a person decides"),
    "hold": _("the run stops and a person decides"),
}
AFTER_IRREVERSIBLE = {
    "hold": _("the run stops and a person decides"),
    "compensate": _("what can be undone is compensated, and what can't stays as residue"),
    "forward": _("the run goes on within its limits, then a person decides"),
}


def rules(workflow: Spec) -> list[tuple[str, str]]:
    """The workflow's own rules, as pairs of a name and its meaning."""
    deadline = workflow.get("deadline")
    return [
        (_("When a step fails"), ON_FAILURE.get(str(workflow.get("on_failure")), str(workflow.get("on_failure")))),
        (
            _("After something irreversible may have happened"),
            AFTER_IRREVERSIBLE.get(str(workflow.get("after_irreversible")), str(workflow.get("after_irreversible"))),
        ),
        (_("Deadline"), traits.length(deadline) if deadline else _("none")),
    ]

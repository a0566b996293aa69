"""Whether there is what somebody wants to freeze. A misspelt name would freeze nothing, and nobody would notice."""

from __future__ import annotations

from workflows.errors import Flaw, Invalid
from workflows.marked import _
from workflows.models import Agent, Run, Tool, Workflow
from workflows.models.stop import Target

MOST_NAMED = 5  # of the names that there are, in an error


def check_target(target: str, name: str) -> None:
    """Raises `Invalid`. A subject needs no run yet: a stop may come before the first."""
    match target:
        case Target.EVERYTHING:
            flaw = Flaw("name", name, _("must be empty: everything is everything")) if name else None
        case Target.SUBJECT:
            kind, _colon, rest = name.partition(":")
            plain = name.isprintable() and name == name.strip()
            sound = kind.strip() and rest.strip() and len(name) <= 301 and (plain or _met(kind, rest))
            flaw = None if sound else Flaw("name", name, _("must be type:id, as runs name it, like customer:42"))
        case Target.TOOL:
            flaw = _known(name, list(Tool.objects.filter(current=True).values_list("name", flat=True)), "tool")
        case Target.AGENT:
            flaw = _known(name, list(Agent.objects.values_list("name", flat=True)), "agent")
        case Target.WORKFLOW:
            flaw = _known(name, list(Workflow.objects.filter(current=True).values_list("name", flat=True)), "workflow")
        case _:
            flaw = Flaw("target", target, _("must be one of: {names}", names=", ".join(Target)))
    if flaw:
        raise Invalid(_("Nothing was frozen."), [flaw])


def _met(kind: str, rest: str) -> bool:
    """A name with what can't be seen is a slip, unless some run is for just that subject."""
    return "\x00" not in kind + rest and Run.objects.filter(subject_type=kind, subject_id=rest).exists()


def _known(name: str, names: list[str], word: str) -> Flaw | None:
    if name in names:
        return None
    some = ", ".join(sorted(names)[:MOST_NAMED]) or "none"
    more = " …" if len(names) > MOST_NAMED else ""
    return Flaw("name", name, NONE[word].given(names=f"{some}{more}"))


NONE = {
    "tool": _("is no tool here; there are: {names}"),
    "agent": _("is no agent here; there are: {names}"),
    "workflow": _("is no workflow here; there are: {names}"),
}

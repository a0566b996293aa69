"""What links cases that have one cause: the tool's version, what it did, and why it got stuck. Pure."""

from __future__ import annotations

from repairs.words.facts import EffectFacts, Reason

NO_EFFECT = "run"


def signature(reason: Reason | None, effect: EffectFacts | None, version: int | None) -> str:
    """`crm.create_contact v1: refused, undoing`; of a whole run `crm.activate: hold`, by the tool whose step failed, or
    `run: no_progress`; "" where a case has no reason."""
    if reason is None:
        return ""
    if effect is None:
        return f"{reason.tool or NO_EFFECT}: {reason.code}"[:200]
    of = f"{effect.tool} v{version}" if version else effect.tool
    return f"{of}: {reason.code}{', undoing' if effect.undoing else ''}"[:200]


def split(signature: str) -> tuple[str, str, str]:
    """(the tool's name, the same with its version, the code): what is not said is ""."""
    of, _, code = signature.rpartition(": ")
    tool, _, version = of.partition(" v")
    return ("" if tool == NO_EFFECT else tool), (of if version else ""), code.partition(",")[0]

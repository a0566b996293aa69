"""What a tool's manifest promises, in words: its class, its key, its look, its undoing. Of normalised specs; pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Spec = Mapping[str, Any]

CLASSES = {
    "read_only": "only reads",
    "bufferable": "held back until the run is sealed",
    "reversible": "can be undone",
    "reversible_with_cost": "can be undone at a cost",
    "irreversible": "can't be undone",
}
AUTONOMY = {
    "auto": "may go by itself where policy allows",
    "ask": "asks a person each time",
    "forbidden": "never goes",
}
ACCESS = {"read_only": "reads", "constrained_write": "writes within bounds", "write": "writes"}
SEEN_BY = {
    "authoritative_read": "the authority itself can be read",
    "weak_signal": "there is only a weak signal: evidence, never verification",
    "none": "nobody can look",
}
ENDS = ("acknowledged", "pending", "refused", "not_sent", "unknown", "")  # outcomes of sends, the good ones first
END_WORDS = {
    "acknowledged": "acknowledged",
    "pending": "accepted, going on",
    "refused": "refused",
    "not_sent": "not sent",
    "unknown": "unknown",
    "": "no answer yet",
}


def length(seconds: Any) -> str:
    """A span as a manifest would write it: "24 h", "90 d", "2.5 s"."""
    if not isinstance(seconds, int | float) or isinstance(seconds, bool):
        return "an unknown time"
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size and (unit != "d" or seconds >= 2 * size):
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds:.4g} s"


def reads_only(spec: Spec) -> bool:
    return bool(profile(spec).get("effect_class") == "read_only")


def profile(spec: Spec) -> dict[str, Any]:
    return dict(spec.get("profile") or {})


def class_words(effect_class: str) -> str:
    return CLASSES.get(effect_class, effect_class.replace("_", " "))


def once(spec: Spec) -> str:
    """What keeps the act from happening twice."""
    if reads_only(spec):
        return "it changes nothing; twice does no harm"
    return keyed(spec.get("idempotency") or {})


WITHIN = {
    "account": ", within one account",
    "endpoint": ", within one endpoint",
    "credential": ", within one credential",
    "global": ", everywhere",
}
KEEPS = {"success": "; it keeps only a yes", "all": "; it keeps refusals too"}


def keyed(idempotency: Spec) -> str:
    match idempotency.get("by"):
        case "native_key":
            kept = idempotency.get("retention")
            time = "without end" if kept is None else f"for {length(kept)}" if kept else "for a time it doesn't publish"
            within = WITHIN.get(idempotency.get("scope", ""), "")
            return f"the provider honours our key {time}{within}{KEEPS.get(idempotency.get('keeps', ''), '')}"
        case "natural_key":
            return "before the first send the provider is asked whether it is there already, with our mark"
        case _:
            return "the provider knows no key: our own record, and a look after every doubt"


def looked(spec: Spec) -> str:
    """How success is verified."""
    if reads_only(spec):
        return "its answer is all there is"
    return asked(spec.get("verify"), str(profile(spec).get("observability", "none")))


def asked(verify: Spec | None, observability: str = "authoritative_read") -> str:
    if not verify:
        return "it can't be looked at: it stays acknowledged, the provider's word"
    if observability != "authoritative_read":
        return SEEN_BY.get(observability, observability)
    return (
        f"a look at the authority, from {length(verify.get('settle'))} after the call, every "
        f"{length(verify.get('every'))}, up to {verify.get('looks')} times"
    )


def undone(spec: Spec) -> str:
    """What compensates it, in which time, and what is tried when that is refused for good."""
    part = spec.get("compensate")
    if not part:
        if reads_only(spec):
            return "nothing to undo"
        return "nothing: its tool declares no compensation"
    if part.get("method") and part.get("url"):
        how = plainly(f"{part['method']} {part['url']}")
    else:
        how = "its tool's own undoing"
    window = f", for {length(part['window'])} after the first send" if part.get("window") else ""
    others = ", ".join(str(name) for name in part.get("fallbacks") or [])
    return f"{how}{window}{f'; refused for good, then {others}' if others else ''}"


def undoing_looked(spec: Spec) -> str:
    part = spec.get("compensate")
    if not part:
        return ""
    return asked(part.get("verify"))


def remains(spec: Spec) -> str:
    """What stays after the undoing, or for good where there is none."""
    part = spec.get("compensate")
    if part:
        return plainly(str(part.get("residue") or ""))
    return "" if reads_only(spec) else plainly(str(profile(spec).get("residue") or ""))


def plainly(text: str) -> str:
    """A manifest's text with its expressions as names in angle brackets: no call has filled them yet."""
    return EXPRESSION.sub(r"‹\1›", text)


EXPRESSION = re.compile(r"\$\{\s*([^}]*?)\s*\}")


def bounds(spec: Spec) -> str:
    """The tool's limits in a line."""
    limits = spec.get("limits")
    if not limits:
        return "none"
    said = [f"{limits['concurrent']} at once"] if limits.get("concurrent") else []
    said += [f"{limits['per_minute']} a minute"] if limits.get("per_minute") else []
    if breaker := limits.get("breaker"):
        said.append(f"a breaker after {breaker['after']} failures within {length(breaker['within'])}")
    return ", ".join(said)

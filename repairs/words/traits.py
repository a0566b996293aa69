"""What a tool's manifest promises, in words: its class, its key, its look, its undoing. Of normalised specs; pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from repairs.words.marked import Phrase, _, listed

Spec = Mapping[str, Any]

CLASSES = {
    "read_only": _("only reads"),
    "bufferable": _("held back until the run is sealed"),
    "reversible": _("can be undone"),
    "reversible_with_cost": _("can be undone at a cost"),
    "irreversible": _("can't be undone"),
}
AUTONOMY = {
    "auto": _("may go by itself where policy allows"),
    "ask": _("asks a person each time"),
    "forbidden": _("never goes"),
}
ACCESS = {"read_only": _("reads"), "constrained_write": _("writes within bounds"), "write": _("writes")}
SEEN_BY = {
    "authoritative_read": _("the authority itself can be read"),
    "weak_signal": _("there is only a weak signal: evidence, never verification"),
    "none": _("nobody can look"),
}
ENDS = ("acknowledged", "pending", "refused", "not_sent", "unknown", "")  # outcomes of sends, the good ones first
END_WORDS = {
    "acknowledged": _("acknowledged"),
    "pending": _("accepted, going on"),
    "refused": _("refused"),
    "not_sent": _("not sent"),
    "unknown": _("unknown"),
    "": _("no answer yet"),
}


def length(seconds: Any) -> str:
    """A span as a manifest would write it: "24 h", "90 d", "2.5 s"."""
    if not isinstance(seconds, int | float) or isinstance(seconds, bool):
        return _("an unknown time")
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
        return _("it changes nothing; twice does no harm")
    return keyed(spec.get("idempotency") or {})


WITHIN = {
    "account": _("{honoured}, within one account"),
    "endpoint": _("{honoured}, within one endpoint"),
    "credential": _("{honoured}, within one credential"),
    "global": _("{honoured}, everywhere"),
}
KEEPS = {"success": _("{honoured}; it keeps only a yes"), "all": _("{honoured}; it keeps refusals too")}


def keyed(idempotency: Spec) -> str:
    match idempotency.get("by"):
        case "native_key":
            honoured = honours(idempotency.get("retention"))
            if (scope := idempotency.get("scope", "")) in WITHIN:
                honoured = WITHIN[scope].given(honoured=honoured)
            if (keeps := idempotency.get("keeps", "")) in KEEPS:
                honoured = KEEPS[keeps].given(honoured=honoured)
            return honoured
        case "natural_key":
            return _("before the first send the provider is asked whether it is there already, with our mark")
        case _:
            return _("the provider knows no key: our own record, and a look after every doubt")


def honours(kept: Any) -> Phrase:
    if kept is None:
        return _("the provider honours our key without end")
    if not kept:
        return _("the provider honours our key for a time it doesn't publish")
    return _("the provider honours our key for {time}", time=length(kept))


def looked(spec: Spec) -> str:
    """How success is verified."""
    if reads_only(spec):
        return _("its answer is all there is")
    return asked(spec.get("verify"), str(profile(spec).get("observability", "none")))


def asked(verify: Spec | None, observability: str = "authoritative_read") -> str:
    if not verify:
        return _("it can't be looked at: it stays acknowledged, the provider's word")
    if observability != "authoritative_read":
        return SEEN_BY.get(observability, observability)
    settle, every = length(verify.get("settle")), length(verify.get("every"))
    return _(
        "a look at the authority, from {settle} after the call, every {every}, up to {looks} times",
        settle=settle,
        every=every,
        looks=verify.get("looks"),
    )


def undone(spec: Spec) -> str:
    """What compensates it, in which time, and what is tried when that is refused for good."""
    part = spec.get("compensate")
    if not part:
        if reads_only(spec):
            return _("nothing to undo")
        return _("nothing: its tool declares no compensation")
    how: str = _("its tool's own undoing")
    if part.get("method") and part.get("url"):
        how = plainly(f"{part['method']} {part['url']}")
    if part.get("window"):
        how = _("{how}, for {time} after the first send", how=how, time=length(part["window"]))
    others = ", ".join(str(name) for name in part.get("fallbacks") or [])
    return _("{how}; refused for good, then {others}", how=how, others=others) if others else how


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
        return _("none")
    told: list[str] = []
    if limits.get("concurrent"):
        told.append(_("{number} at once", number=limits["concurrent"]))
    if limits.get("per_minute"):
        told.append(_("{number} a minute", number=limits["per_minute"]))
    if breaker := limits.get("breaker"):
        within = length(breaker["within"])
        told.append(_("a breaker after {number} failures within {time}", number=breaker["after"], time=within))
    return listed(told)

"""What the shape can't say about a tool of any kind: schema, names, and promises that don't go together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workflows.tools import expressions, registry, schema
from workflows.tools.manifest import http_rules
from workflows.tools.manifest.names import (
    FORWARD,
    OF_A_CALL,
    OF_A_MAIL,
    OF_AN_ANSWER,
    OF_AN_UNDOING,
    RUN,
    SENT,
    SUBJECT,
    Checker,
    of_schema,
)
from workflows.tools.urls import trouble

if TYPE_CHECKING:
    from collections.abc import Collection

    from workflows.errors import Flaw
    from workflows.tools.reading import Document
    from workflows.tools.reading.documents import Where

Spec = dict[str, Any]
REVERSIBLE = ("reversible", "reversible_with_cost")


def check(
    document: Document, where: Where, raw: Spec, spec: Spec, *, env: Collection[str], tools: Collection[str]
) -> list[Flaw]:
    """Every flaw of one tool whose shape is right. `tools`: the names that fallbacks may name."""
    checker = Checker(document, _fields(spec, env))
    for flaw in schema.flaws_of_schema(spec["arguments"], path="arguments"):
        checker.add((*where, *flaw.path.split(".")), flaw.value, flaw.message)
    checker.templates((*where, "scopes"), raw.get("scopes", []), OF_A_CALL)
    checker.templates((*where, "value"), raw.get("value"), OF_A_CALL)
    checker.templates((*where, "profile", "residue"), raw["profile"]["residue"], OF_A_CALL)
    _profile(checker, where, spec)
    for number, text in enumerate(raw.get("hooks", {}).get("names", [])):
        checker.condition((*where, "hooks", "names", number), text, frozenset({"body"}))
    _value(checker, where, spec.get("value", {}).get("amount", 0))
    for number, name in enumerate(spec.get("compensate", {}).get("fallbacks", [])):
        if name not in tools:
            checker.add((*where, "compensate", "fallbacks", number), name, "is no tool here, nor one applied earlier")
    if spec.get("compensate", {}).get("recheck") and "verify" not in spec["compensate"]:
        checker.add((*where, "compensate", "recheck"), raw["compensate"]["recheck"], "needs a verify to look with")
    checker.templates((*where, "compensate", "cost"), spec.get("compensate", {}).get("cost"), OF_A_CALL | OF_AN_UNDOING)
    until = spec.get("compensate", {}).get("window_until")
    # The window is looked at where the results of other steps aren't at hand.
    checker.templates((*where, "compensate", "window_until"), until, (OF_A_CALL | OF_AN_UNDOING) - {"steps"})
    _OF_A_KIND[spec["kind"]](checker, where, raw, spec)
    return checker.flaws


def _fields(spec: Spec, env: Collection[str]) -> dict[str, frozenset[str]]:
    fields = {"run": RUN, "subject": SUBJECT, "forward": FORWARD, "sent": SENT, "env": frozenset(env)}
    arguments = of_schema(spec["arguments"])
    return fields if arguments is None else {**fields, "args": arguments}


def _profile(checker: Checker, where: Where, spec: Spec) -> None:
    profile, by = spec["profile"], spec["idempotency"]["by"]
    effect_class = profile["effect_class"]
    if effect_class in REVERSIBLE and "compensate" not in spec:
        checker.add((*where, "compensate"), None, f"is missing; effect_class {effect_class} promises an undoing")
    if effect_class == "read_only" and profile["access"] != "read_only":
        checker.add((*where, "profile", "access"), profile["access"], "must be read_only where effect_class is")
    if by == "natural_key" and "verify" not in spec:
        checker.add((*where, "idempotency", "by"), by, "needs a verify that asks the world by this natural key")
    _keys(checker, (*where, "idempotency"), spec["idempotency"], spec["kind"], OF_A_CALL)
    undoing = spec.get("compensate", {}).get("idempotency", {})
    if undoing != spec["idempotency"]:
        _keys(checker, (*where, "compensate", "idempotency"), undoing, spec["kind"], OF_A_CALL | OF_AN_UNDOING)


def _keys(checker: Checker, where: Where, promise: Spec, kind: str, names: frozenset[str]) -> None:
    """What is said of keys must be said of a native key, and what is read of answers can be read over HTTP only."""
    for name in promise:
        if name == "adopt":
            if promise["by"] != "natural_key":
                checker.add((*where, name), promise[name], f"means nothing where by is {promise['by']}")
        elif name != "by" and promise["by"] != "native_key":
            checker.add((*where, name), promise[name], f"means nothing where by is {promise['by']}")
        elif name in ("in_flight", "mismatch", "marker") and kind != "http":
            checker.add((*where, name), promise[name], f"means nothing in kind {kind}, which has no such answers")
    for name in ("in_flight", "mismatch"):
        checker.condition((*where, name), promise.get(name), names | OF_AN_ANSWER)


def _value(checker: Checker, where: Where, amount: int | str) -> None:
    try:
        whole = isinstance(amount, int) or expressions.parse(amount).whole
    except expressions.ExpressionError:
        return  # told already, with the other texts
    if not whole:
        checker.add((*where, "value", "amount"), amount, "must be an integer in minor units, or one expression for it")


def _http(checker: Checker, where: Where, raw: Spec, spec: Spec) -> None:
    http_rules.check(checker, where, raw, spec)


def _smtp(checker: Checker, where: Where, raw: Spec, spec: Spec) -> None:
    execute = {name: value for name, value in raw["execute"].items() if name not in ("timeout", "late")}
    checker.templates((*where, "execute"), execute, OF_A_CALL)
    if spec["idempotency"]["by"] != "none":
        checker.add(
            (*where, "idempotency", "by"), spec["idempotency"]["by"], "must be none: no mail server honours keys"
        )
    mailbox = raw.get("mailbox")
    if mailbox is not None and "imap" in mailbox:
        login = {name: mailbox["imap"].pop(name) for name in ("username", "password") if name in mailbox["imap"]}
        checker.templates((*where, "mailbox", "imap"), login, OF_A_CALL, secrets=True)
        checker.templates((*where, "mailbox", "imap"), mailbox["imap"], frozenset({"env"}))
    elif mailbox is not None:
        http_rules.look(checker, (*where, "mailbox"), mailbox, OF_A_CALL | OF_A_MAIL)


def _caldav(checker: Checker, where: Where, raw: Spec, spec: Spec) -> None:
    execute = {name: value for name, value in raw["execute"].items() if name not in ("timeout", "late", "auth")}
    checker.templates((*where, "execute"), execute, OF_A_CALL)
    checker.templates((*where, "execute", "auth"), raw["execute"].get("auth") or {}, OF_A_CALL, secrets=True)
    _undoing(checker, where, spec)
    if spec["idempotency"]["by"] == "none":
        checker.add((*where, "idempotency", "by"), "none", "must be native_key: the UID comes from our key")
    try:
        if (message := trouble(spec["execute"]["calendar"])) is not None:
            checker.add((*where, "execute", "calendar"), spec["execute"]["calendar"], message)
    except expressions.ExpressionError:
        return


def _python(checker: Checker, where: Where, raw: Spec, spec: Spec) -> None:
    _undoing(checker, where, spec)
    try:
        registry.python_class(spec["class"])
    except LookupError as error:
        checker.add((*where, "class"), spec["class"], str(error))


def _undoing(checker: Checker, where: Where, spec: Spec) -> None:
    residue = spec.get("compensate", {}).get("residue")
    checker.templates((*where, "compensate", "residue"), residue, OF_A_CALL | OF_AN_UNDOING)


_OF_A_KIND = {"http": _http, "smtp": _smtp, "caldav": _caldav, "python": _python}

"""What a person filled in for a remedy, as the arguments of its tool; and what is filled in for them to begin with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from repairs.words.marked import _
from repairs.words.remedy_fields import Field, Sort, text_of
from workflows.errors import Flaw, Invalid
from workflows.models import Effect
from workflows.tools.reading import read

LONGEST = 20_000  # characters of one field: what is longer is no line that somebody typed
ARGUMENTS = "arguments"  # under which the engine names its flaws


def typed_of(posted: Mapping[str, str], fields: Sequence[Field]) -> dict[str, str]:
    """The texts of the form, by the names of their fields."""
    return {field.name: posted.get(f"arg.{field.name}", "").replace("\r\n", "\n") for field in fields}


def arguments_of(fields: Sequence[Field], typed: Mapping[str, str]) -> tuple[dict[str, Any], list[Flaw]]:
    """(arguments, what is wrong with the texts). What was left empty isn't sent; the tool's schema says if it must."""
    found: dict[str, Any] = {}
    flaws: list[Flaw] = []
    for field in fields:
        text = typed.get(field.name, "")
        if not text.strip():
            continue
        try:
            value = _value(field, text)
        except Invalid as trouble:
            flaws += trouble.flaws
            continue
        if field.name:
            found[field.name] = value
        elif isinstance(value, dict):
            found = value
        else:
            flaws.append(_flaw(field, text, _("must be one JSON object")))
    return found, flaws


def _value(field: Field, text: str) -> Any:
    """Raises `Invalid`."""
    if len(text) > LONGEST:
        raise Invalid(
            "too long",
            [
                _flaw(
                    field,
                    text[:40],
                    _("has {count} characters; at most {most} are taken", count=len(text), most=LONGEST),
                )
            ],
        )
    if field.sort in (Sort.LINE, Sort.LINES):
        if control := next((c for c in text if ord(c) < ord(" ") and c not in "\n\t"), ""):
            raise Invalid(
                "control",
                [
                    _flaw(
                        field, text, _("holds a control character ({code}); take it out", code=f"U+{ord(control):04X}")
                    )
                ],
            )
        return text.strip() if field.sort == Sort.LINE else text
    value = _json(field, text)
    if field.sort == Sort.WHOLE and (isinstance(value, bool) or not isinstance(value, int)):
        raise Invalid("no number", [_flaw(field, text, _("must be a whole number"))])
    if field.sort == Sort.NUMBER and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise Invalid("no number", [_flaw(field, text, _("must be a number"))])
    if field.sort == Sort.FLAG and not isinstance(value, bool):
        raise Invalid("no flag", [_flaw(field, text, _("must be true or false"))])
    return value


def _json(field: Field, text: str) -> Any:
    try:
        return read("field.json", text.strip()).value
    except Invalid as trouble:
        why = trouble.flaws[0].message if trouble.flaws else trouble.detail
        said = {Sort.WHOLE: _("must be a whole number"), Sort.NUMBER: _("must be a number")}.get(
            field.sort, _("no JSON: {why}", why=why)
        )
        raise Invalid("unreadable", [_flaw(field, text, said)]) from trouble


def _flaw(field: Field, value: object, message: str) -> Flaw:
    return Flaw(f"{ARGUMENTS}.{field.name}" if field.name else ARGUMENTS, value, message)


def begun(
    schema: Mapping[str, Any], fields: Sequence[Field], of: Effect | None, said: Mapping[str, str]
) -> dict[str, str]:
    """What stands in the fields before anybody typed: what the act to be made good was asked and told under the same
    names, then a message's texts. People see it before it goes, and change it."""
    known = {**(of.arguments if of else {}), **((of.result or {}) if of else {}), **said}
    parts = schema.get("properties") or {}
    known = {**{name: part["default"] for name, part in parts.items() if "default" in part}, **known}
    if fields and not fields[0].name:
        taken = {name: value for name, value in known.items() if name in parts}
        return {"": text_of(fields[0], taken)} if taken else {}
    return {field.name: text_of(field, known[field.name]) for field in fields if known.get(field.name) is not None}

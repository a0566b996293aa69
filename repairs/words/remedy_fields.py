"""Which fields a person fills in for a tool: read from its JSON schema, one for each argument that is plain. Pure."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Mapping, Sequence
from typing import Any

from repairs.words.marked import _

LONG = ("text", "body", "html", "message", "note", "description", "content")  # names of what takes more than a line
LONG_FROM = 200  # characters that a schema allows, from which a text gets several lines
MOST_FIELDS = 40  # beyond that nobody fills in a form: it is one JSON text


class Sort(enum.StrEnum):
    LINE = "line"
    LINES = "lines"
    CHOICE = "choice"
    WHOLE = "whole"
    NUMBER = "number"
    FLAG = "flag"
    JSON = "json"


@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """One argument. `name` is "" where it stands for all of them, as one JSON text. `choices`: JSON texts."""

    name: str
    sort: Sort
    needed: bool = False
    hint: str = ""
    choices: Sequence[str] = ()


WHOLE_CALL = Field("", Sort.JSON, needed=True, hint=_("All arguments, as one JSON object."))


def fields_of(schema: Mapping[str, Any], *, as_json: bool = False) -> list[Field]:
    """The fields of a tool's arguments; one JSON text where its schema names none, or too many."""
    properties = schema.get("properties")
    if as_json or not isinstance(properties, dict) or not properties or len(properties) > MOST_FIELDS:
        return [WHOLE_CALL]
    needed = schema.get("required") or []
    # What must be filled in comes first, then lines before texts; beyond that a stored schema has no order of its own.
    return sorted(
        (_field(name, part if isinstance(part, dict) else {}, name in needed) for name, part in properties.items()),
        key=lambda field: (not field.needed, field.sort == Sort.LINES, field.name),
    )


def _field(name: str, part: Mapping[str, Any], needed: bool) -> Field:
    hint = str(part.get("description") or part.get("title") or _looks(part.get("format")))
    choices = part.get("enum")
    if isinstance(choices, list) and choices:
        return Field(name, Sort.CHOICE, needed, hint, [json.dumps(choice, ensure_ascii=False) for choice in choices])
    return Field(name, _sort(name, part), needed, hint)


def _looks(form: object) -> str:
    """How a text of that format looks; "" where none is asked for."""
    return FORMATS.get(str(form), f"A text of the format {form}.") if form else ""


FORMATS = {
    "email": "An e-mail address, such as office@customer.example.",
    "date": "A day, such as 2031-05-06.",
    "time": "A time with its zone, such as 14:30:00Z.",
    "date-time": "A day and a time with its zone, such as 2031-05-06T14:30:00Z.",
    "uri": "An address that begins with https://.",
    "uuid": "An id of 32 digits and letters a to f, in five groups.",
}


def _sort(name: str, part: Mapping[str, Any]) -> Sort:
    match part.get("type"):
        case "string":
            longest = part.get("maxLength")
            long = name.lower() in LONG or (isinstance(longest, int) and longest > LONG_FROM)
            return Sort.LINES if long else Sort.LINE
        case "integer":
            return Sort.WHOLE
        case "number":
            return Sort.NUMBER
        case "boolean":
            return Sort.FLAG
        case _:
            return Sort.JSON


def text_of(field: Field, value: Any) -> str:
    """A value as it stands in its field."""
    if field.sort in (Sort.LINE, Sort.LINES) and isinstance(value, str):
        return value
    if field.sort == Sort.JSON:
        return json.dumps(value, ensure_ascii=False, indent=1)
    return json.dumps(value, ensure_ascii=False)

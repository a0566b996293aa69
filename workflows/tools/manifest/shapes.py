"""From a raw map to a model of its kind, and from the shape's errors to flaws at their place in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from workflows.errors import Flaw
from workflows.tools.defaults import KINDS
from workflows.tools.manifest.fields import AnyTool
from workflows.tools.manifest.http_shape import HttpTool
from workflows.tools.manifest.other_shapes import CalDavTool, PythonTool, SmtpTool
from workflows.tools.manifest.workflow_shape import Workflow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workflows.tools.reading import Document
    from workflows.tools.reading.documents import Where

M = TypeVar("M", bound=BaseModel)
SHAPES: dict[str, type[AnyTool]] = {"http": HttpTool, "smtp": SmtpTool, "caldav": CalDavTool, "python": PythonTool}


def tool(document: Document, where: Where, raw: Any) -> tuple[AnyTool | None, list[Flaw]]:
    """The model of one tool, or what is wrong with its shape."""
    kind = raw.get("kind") if isinstance(raw, dict) else None
    if kind == "mcp":
        return None, [document.flaw((*where, "kind"), kind, "isn't built yet; call the server's HTTP side for now")]
    if isinstance(raw, dict) and (not isinstance(kind, str) or kind not in SHAPES):
        return None, [document.flaw((*where, "kind"), kind, f"must be one of {', '.join(KINDS)}")]
    model, flaws = model_of(SHAPES.get(str(kind), AnyTool), document, where, raw)
    return model, flaws


def workflow(document: Document, where: Where, raw: Any) -> tuple[Workflow | None, list[Flaw]]:
    """The model of one workflow, or what is wrong with its shape."""
    return model_of(Workflow, document, where, raw)


def plain(value: Any) -> Any:
    """A model as JSON, without what was left out; JSON maps of the author stay as they are, nulls included."""
    if isinstance(value, BaseModel):
        fields = type(value).model_fields
        found = {fields[name].alias or name: getattr(value, name) for name in fields}
        return {name: plain(item) for name, item in found.items() if item is not None}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def model_of(shape: type[M], document: Document, where: Where, raw: Any) -> tuple[M | None, list[Flaw]]:
    """The model of a document's part by its shape, or what is wrong with it."""
    try:
        return shape.model_validate(raw), []
    except ValidationError as error:
        return None, [flaw for one in error.errors() for flaw in _flaws(document, where, raw, dict(one))]


def _flaws(document: Document, where: Where, raw: Any, error: dict[str, Any]) -> Iterator[Flaw]:
    path, value = _followed(raw, error["loc"], missing=error["type"] == "missing")
    if error["type"] == "unknown_fields":
        known = ", ".join(error["ctx"]["known"])
        for name in error["ctx"]["unknown"]:
            yield document.flaw((*where, *path, name), value[name], f"is no field here; there are {known}")
    elif error["type"] == "missing":
        yield document.flaw((*where, *path), None, "is missing")
    else:
        yield document.flaw((*where, *path), value, _said(error))


def _followed(raw: Any, loc: tuple[int | str, ...], *, missing: bool) -> tuple[Where, Any]:
    """The parts of `loc` that stand in the document (the library adds names of types), and the value there."""
    path: list[str | int] = []
    value = raw
    for number, part in enumerate(loc):
        if isinstance(value, dict) and part in value:
            value = value[str(part)]
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        elif not (missing and number == len(loc) - 1):
            continue
        path.append(part)
    return tuple(path), value


def _said(error: dict[str, Any]) -> str:
    match error["type"]:
        case "string_type":
            return "must be a string; put it into quotes"
        case "string_too_short":
            return "must not be empty"
        case "string_pattern_mismatch":
            return "may hold letters, digits, _ and -, and must begin with a letter"
        case "int_type" | "int_from_float":
            return "must be a whole number"
        case "bool_type":
            return "must be true or false"
        case "list_type":
            return "must be a list"
        case "dict_type" | "not_a_map":
            return "must be a map of fields"
        case "literal_error":
            return f"must be {error['ctx']['expected']}"
        case _:
            message = str(error["msg"])
            return message[:1].lower() + message[1:]

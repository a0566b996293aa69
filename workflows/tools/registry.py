"""From a stored tool's kind and spec to the object that can be called: the only place that knows every kind."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from workflows.tools.base import Tool
from workflows.tools.defaults import KINDS

if TYPE_CHECKING:
    from workflows.outcomes import JsonObject

# Imported when first needed: a worker that only speaks HTTP loads no mail or calendar code.
CLASSES = {
    "http": "workflows.tools.http.HttpTool",
    "smtp": "workflows.tools.smtp.SmtpTool",
    "caldav": "workflows.tools.caldav.CalDavTool",
}


def build(name: str, kind: str, spec: JsonObject) -> Tool:
    """The tool of one normalised spec, as `apply` stored it. Building reads no network; callers keep what they get.

    Raises `LookupError` where the kind or the Python class doesn't exist (any more).
    """
    return tool_class(kind, spec)(name, spec)


def tool_class(kind: str, spec: JsonObject) -> type[Tool]:
    if kind not in KINDS:
        raise LookupError(f"there is no kind of tool {kind!r}; there are {', '.join(KINDS)}")
    return python_class(CLASSES.get(kind) or str(spec.get("class", "")))


def python_class(path: str) -> type[Tool]:
    """The subclass of `Tool` at a dotted path."""
    module, _, name = path.rpartition(".")
    if not module:
        raise LookupError(f"{path!r} is no dotted path of a class")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as trouble:
        raise LookupError(f"{path!r} can't be loaded: {trouble}") from trouble
    if isinstance(found, type) and issubclass(found, Tool):
        return found
    raise LookupError(f"{path!r} is no subclass of {Tool.__module__}.Tool")

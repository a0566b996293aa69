"""Python tools that declare themselves: subclasses of `Tool` with a `declares`, found in the apps' `tools.py`."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from typing import TYPE_CHECKING, Any

from workflows.tools.base import Tool

if TYPE_CHECKING:
    from collections.abc import Iterable


def declared(packages: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Manifest entries by tool name, of the classes defined in `<package>.tools` of these packages.

    `declares` is a manifest entry with one more field, `name`, and without `kind` and `class`. An import that fails
    raises: a tool that silently isn't there is worse than a command that stops.
    """
    found: dict[str, dict[str, Any]] = {}
    for package in packages:
        path = f"{package}.tools"
        if importlib.util.find_spec(path) is None:
            continue
        module = importlib.import_module(path)
        for _, member in inspect.getmembers(module, inspect.isclass):
            if issubclass(member, Tool) and member.__module__ == path and "declares" in vars(member):
                entry = dict(member.declares or {})
                name = str(entry.pop("name", f"{path}.{member.__name__}"))
                found[name] = {**entry, "kind": "python", "class": f"{path}.{member.__qualname__}"}
    return found

"""Where secrets come from: providers, asked in their order; the operator chooses them by SECRET_PROVIDERS."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol


class Provider(Protocol):
    """One place that may hold secrets. Asked at every call, so that what is changed there counts at once; anything
    slow must keep its answers itself."""

    def get(self, name: str) -> str | None:
        """The secret's text; None where it isn't here."""
        ...

    def place(self, name: str) -> str:
        """Where an operator would put it, for a message."""
        ...


class Environment:
    def get(self, name: str) -> str | None:
        return os.environ.get(f"MAKEGOOD_SECRET_{name}")

    def place(self, name: str) -> str:
        return f"MAKEGOOD_SECRET_{name}"


class Files:
    """Mounted files: the one that MAKEGOOD_SECRET_<NAME>_FILE names, else NAME in the folder MAKEGOOD_SECRETS."""

    def get(self, name: str) -> str | None:
        path, folder = os.environ.get(f"MAKEGOOD_SECRET_{name}_FILE"), os.environ.get("MAKEGOOD_SECRETS")
        file = Path(path) if path else Path(folder) / name if folder else None
        try:
            return file.read_text(encoding="utf-8").rstrip("\r\n") if file else None
        except (OSError, UnicodeDecodeError):
            return None

    def place(self, name: str) -> str:
        return f"MAKEGOOD_SECRET_{name}_FILE"


_providers: tuple[Provider, ...] = (Environment(), Files())


def use(paths: Sequence[str]) -> None:
    """Takes the providers named by their dotted paths. Raises `ImportError`, which names the one that isn't there."""
    global _providers
    _providers = tuple(_load(path) for path in paths)


def secret(name: str) -> str | None:
    """From the first provider that has it."""
    return next((value for provider in _providers if (value := provider.get(name)) is not None), None)


def places(name: str) -> str:
    return " or ".join(provider.place(name) for provider in _providers)


def _load(path: str) -> Provider:
    module, _, name = path.rpartition(".")
    try:
        made: Provider = getattr(importlib.import_module(module), name)()
    except (ImportError, AttributeError, ValueError) as error:
        raise ImportError(f"MAKEGOOD_SECRET_PROVIDERS names {path}, which can't be loaded: {error}") from error
    return made

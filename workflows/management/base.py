"""What all of our commands are: texts of agents and providers can't steer the terminal they are printed in."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand

from workflows.visible import parts


class PlainCommand(BaseCommand):
    """Prints escape sequences, carriage returns, turned and hidden characters as codes, errors included."""

    def execute(self, *args: Any, **options: Any) -> Any:
        options["stdout"] = Marked(options.get("stdout") or sys.stdout)
        options["stderr"] = Marked(options.get("stderr") or sys.stderr)
        return super().execute(*args, **options)


class Marked:
    """A stream that marks what goes through it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> None:
        self._stream.write(marked(text))


def marked(text: str) -> str:
    """Line ends and tabs stay; what would move the cursor, colour, hide or turn what is read becomes a code."""
    return "".join(piece for _, piece in parts(text, block=True))

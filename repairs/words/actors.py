"""How the console names whoever did something: persons by their login, others by what they are."""

from __future__ import annotations

from repairs.words.marked import _


def who(actor: str) -> str:
    """From the journal's name: "person:desk" is desk, "command:root" is root at the command line."""
    kind, colon, name = actor.partition(":")
    match kind:
        case "person" if colon:
            return name
        case "command":
            return _("{name} at the command line", name=name) if name else _("the command line")
        case "engine":
            return _("the engine")
        case _:
            return actor

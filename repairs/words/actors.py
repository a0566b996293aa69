"""How the console names whoever did something: persons by their login, others by what they are."""

from __future__ import annotations


def who(actor: str) -> str:
    """From the journal's name: "person:desk" is desk, "command:root" is root at the command line."""
    kind, colon, name = actor.partition(":")
    match kind:
        case "person" if colon:
            return name
        case "command":
            return f"{name} at the command line" if name else "the command line"
        case "engine":
            return "the engine"
        case _:
            return actor

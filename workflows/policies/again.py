"""Whether an effect that is stuck may be sent once more because a person says so. Pure; the engine and words ask it."""

from __future__ import annotations

# Sending the same would ask for what can't be, whatever is outside.
NEVER = {
    "window": "The time in which its tool lets it be undone is over; a call now may do something else.",
    "no_result": "The name of the thing at the provider is not known; a call could hit something else.",
    "dependants": "Later effects of other runs stand on it; undoing it now would pull the ground from under them.",
    "already_there": "Something stands under this name that isn't ours; sending would make a second one or change it.",
    "less_remains": "Less is left than it would undo; have the rest undone instead.",
    "reversed": "Its key has undone it once already; have it undone once more instead, under a new key.",
    "key_mismatch": "The provider keeps another request under our key; the same one would be refused again.",
}


def why_not(*, world: str, reason: str, acknowledged: bool, protected: bool, undoing: bool) -> str:
    """ "" where the same request may go out again under the same key, else the reason why it may not.

    `protected`: the provider honours our key and still remembers it."""
    if reason in NEVER:
        return NEVER[reason]
    if acknowledged:
        return "The provider said yes to it; what was acknowledged is never sent again, as it may still happen."
    match world:
        case "nothing":
            return ""
        case "unknown" if protected:
            return ""
        case "unknown":
            again = "undo something else" if undoing else "do it twice"
            return (
                f"It is not known whether it happened, and no key protects a second send: it may {again}. Look first."
            )
        case "gone" if undoing:
            return "It is gone already; there is nothing to undo."
        case "gone":
            return "It was there and is gone; under its key the provider may only say again what it said then."
        case _ if undoing:
            return "What is there isn't what it would undo; sending would change it."
        case _:
            return "Something is there already; sending again would do it twice."

"""What a batch does with each of its cases, and what came of it. Pure; asked before, while and after it is done."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable

LOOK_AGAIN, CLAIM, RELEASE = "look_again", "claim", "release"

# As a heading, as a button with its number, and what it does.
NAMES = {
    LOOK_AGAIN: ("Look again", "Look again at {}", "It only reads: nothing is sent."),
    CLAIM: ("Claim", "Claim {}", "Each is yours for 15 min. Nothing is sent."),
    RELEASE: ("Give back", "Give back {}", "Each is free for others. Nothing is sent."),
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ItemFacts:
    """A case as it is now. `same`: as it was when it was chosen; `holder`: whose claim is alive, "" for nobody's;
    `stuck` effects, and `lookable` ones among them."""

    live: bool
    same: bool
    holder: str
    until: str
    mine: bool
    stuck: int
    lookable: int


@dataclasses.dataclass(frozen=True, slots=True)
class Prospect:
    """`kind` is "" where it is acted on, else why it is skipped, in a word to count by."""

    kind: str
    says: str

    @property
    def will(self) -> bool:
        return not self.kind


def prospect(act: str, facts: ItemFacts) -> Prospect:
    """What the act does with this case now."""
    if not facts.live:
        return Prospect("closed since", "It is closed; nothing is left to do.")
    if not facts.same:
        return Prospect("changed since", "It is not as it was when you chose it; read it anew.")
    if facts.holder and not facts.mine:
        return Prospect("held by others", f"{facts.holder} holds it until {facts.until}.")
    match act:
        case "look_again":
            return to_look(facts)
        case "claim":
            return (
                Prospect("yours already", "It is yours already.") if facts.mine else Prospect("", "It becomes yours.")
            )
        case _:
            return Prospect("", "It becomes free.") if facts.mine else Prospect("not yours", "It isn't yours.")


def to_look(facts: ItemFacts) -> Prospect:
    if facts.lookable:
        left = facts.stuck - facts.lookable
        rest = f"; {left} more can't be looked at" if left else ""
        return Prospect("", f"{number(facts.lookable, 'effect')} {be(facts.lookable)} looked at again{rest}.")
    if facts.stuck:
        return Prospect("can't be looked at", "Its tool declares no look, or its agent has no right to one.")
    return Prospect("nothing is stuck", "None of its effects is stuck; a look would tell nothing new.")


def came_of(act: str, state: str, reasons: Collection[str], *, looking: bool) -> str:
    """What a look that was asked for has told so far, by the case's state and why it needs a person; "" for others.

    `looking`: something of it is unknown, so the engine is at it."""
    if act != LOOK_AGAIN:
        return ""
    if state in ("resolved", "written_off"):
        return "clear by now"
    if looking:
        return "being looked at"
    return "could not be read" if "unreachable" in reasons else "still open"


def told(kinds: Iterable[str]) -> str:
    """How many of each kind, the most first: "3 clear by now, 1 still open"."""
    return ", ".join(f"{count:,} {kind}" for kind, count in Counter(kinds).most_common())


def number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def be(count: int) -> str:
    return "is" if count == 1 else "are"

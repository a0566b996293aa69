"""What a batch does with each of its cases, and what came of it. Pure; asked before, while and after it is done."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable

LOOK_AGAIN, CLAIM, RELEASE = "look_again", "claim", "release"
TURN_BACK, TRY_AGAIN, UNDO_AGAIN = "turn_back", "try_again", "undo_again"
FACT, SNOOZE, ESCALATE = "fact", "snooze", "escalate"
NEEDS_NO_CLAIM = (FACT, ESCALATE)  # whoever knows something says it, and whoever holds the case keeps it

# As a heading, as a button with its number, and what it does.
NAMES = {
    LOOK_AGAIN: ("Look again", "Look again at {}", "It only reads: nothing is sent."),
    CLAIM: ("Claim", "Claim {}", "Each is yours for 15 min. Nothing is sent."),
    RELEASE: ("Give back", "Give back {}", "Each is free for others. Nothing is sent."),
    TURN_BACK: ("Undo what stands", "Undo what stands of {}", "Each line shows all that it sends."),
    TRY_AGAIN: ("Send again", "Send again for {}", "Each line shows what goes out once more, under its own key."),
    FACT: ("Write down a fact", "Write it down for {}", "It stands beside each, as your word. Nothing is sent."),
    SNOOZE: ("Set aside", "Set {} aside", "Each wakes by itself then, or when it changes. Nothing is sent."),
    ESCALATE: ("Escalate", "Escalate {}", "Who can help is told of each. Nothing is sent to any tool."),
    UNDO_AGAIN: ("Undo once more", "Undo once more for {}", "Each line shows the new undoing, under a key of its own."),
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SendingFacts:
    """Of an act that sends. `offered`: of how many effects (or of the run) the case's page offers it, `why_not` where
    of none; `same`: what would be sent is what was shown; `old`: that was too long ago; `long`: more than a line
    shows."""

    offered: int
    why_not: str
    requests: int
    same: bool
    old: bool
    long: bool
    flawed: bool


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ItemFacts:
    """A case as it is now. `same`: as it was when it was chosen; `holder`: whose claim is alive, "" for nobody's;
    `escalated`: to whom by a person; `asks`: a second person is asked about it; `handed`: to somebody who has not read
    it back; `stuck` effects, and `lookable` ones among them; `sending`: where it was read what an act sends."""

    live: bool
    same: bool
    holder: str
    until: str
    mine: bool
    escalated: str = ""
    asks: bool = False
    handed: bool = False
    stuck: int = 0
    lookable: int = 0
    sending: SendingFacts | None = None


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
    if facts.holder and not facts.mine and act not in NEEDS_NO_CLAIM:
        return Prospect("held by others", f"{facts.holder} holds it until {facts.until}.")
    if facts.sending:
        return to_send(facts.sending)
    match act:
        case "look_again":
            return to_look(facts)
        case "claim":
            return (
                Prospect("yours already", "It is yours already.") if facts.mine else Prospect("", "It becomes yours.")
            )
        case "fact":
            return Prospect("", "It is written down beside it.")
        case "snooze":
            return to_rest(facts)
        case "escalate":
            return (
                Prospect("escalated already", f"It is escalated to {facts.escalated} already.")
                if facts.escalated
                else Prospect("", "They are told; whoever holds it keeps it.")
            )
        case "release":
            return Prospect("", "It becomes free.") if facts.mine else Prospect("not yours", "It isn't yours.")
        case _:
            return Prospect("", "Its turn has not come yet.")


def to_rest(facts: ItemFacts) -> Prospect:
    if facts.asks:
        return Prospect("waits for an answer", "It waits for a second person's answer.")
    if facts.handed:
        return Prospect("being handed over", "It is being handed over.")
    return Prospect("", "It is in nobody's hands until then.")


def to_look(facts: ItemFacts) -> Prospect:
    if facts.lookable:
        left = facts.stuck - facts.lookable
        rest = f"; {left} more can't be looked at" if left else ""
        return Prospect("", f"{number(facts.lookable, 'effect')} {be(facts.lookable)} looked at again{rest}.")
    if facts.stuck:
        return Prospect("can't be looked at", "Its tool declares no look, or its agent has no right to one.")
    return Prospect("nothing is stuck", "None of its effects is stuck; a look would tell nothing new.")


def to_send(facts: SendingFacts) -> Prospect:
    if facts.old:
        return Prospect("shown long ago", "What it sends was shown too long ago; choose it anew.")
    if facts.long:
        return Prospect("more than a line shows", "So much is sent for it that its own page shows it; decide it there.")
    if facts.offered > 1:
        return Prospect("several at once", f"{facts.offered} of its effects could be meant; decide it on its own page.")
    if not facts.offered:
        return Prospect("not possible", facts.why_not)
    if not facts.same:
        return Prospect("changed since", "What would be sent is not what you were shown; read it anew.")
    if facts.flawed:
        return Prospect("can't be made", "As things are one of its requests can't be made; its own page says why.")
    if not facts.requests:
        return Prospect("", "Sends nothing by itself: what stands can't be undone, and stays stated.")
    return Prospect("", f"Sends {number(facts.requests, 'request')}, if policy and stops let it.")


def came_of(act: str, state: str, reasons: Collection[str], *, looking: bool) -> str:
    """What a look that was asked for has told so far, by the case's state and why it needs a person; "" for others.

    `looking`: something of it is unknown, so the engine is at it."""
    if act != LOOK_AGAIN:
        return ""
    if state in ("resolved", "written_off"):
        return "clear by now"
    if looking:
        return MOVES[0]
    return "could not be read" if "unreachable" in reasons else "still open"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CameFacts:
    """`states`: (state, reason) of the effects that the act was about, or of their undoings; `turning`: the engine has
    more to do of the run; `undoing`: it was to undo."""

    live: bool
    turning: bool
    states: tuple[tuple[str, str], ...]
    undoing: bool


MOVES = ("being looked at", "under way")  # what has come so far and goes on by itself
UNDER_WAY = {"blocked", "ready", "dispatched", "pending", "unknown"}
OWN_WAITS = {"dependency", "order", "gate", "rate"}  # for what the engine itself brings about


def came_of_sending(facts: CameFacts) -> str:
    """What has come of what was sent, in a word to count by."""
    states = {state for state, _ in facts.states}
    waits = {reason for state, reason in facts.states if state == "blocked"} - OWN_WAITS
    if "stuck" in states:
        return "stuck again"
    if "approval" in waits:
        return "waits for approval"
    if waits:
        return "held up"
    if states & UNDER_WAY or facts.turning:
        return MOVES[1]
    if facts.live:
        return "still open"
    if not states:
        return "nothing to undo"
    done = "undone" if facts.undoing else "done"
    if states == {"verified"}:
        return f"{done}, verified"
    return f"{done}, not verifiable" if states <= {"verified", "acknowledged"} else "ended otherwise"


def counted(kinds: Iterable[str]) -> list[tuple[str, int]]:
    """How many of each kind, the most first."""
    return Counter(kinds).most_common()


def number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def be(count: int) -> str:
    return "is" if count == 1 else "are"

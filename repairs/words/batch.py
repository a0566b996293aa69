"""What a batch does with each of its cases, and what came of it. Pure; asked before, while and after it is done."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable

from repairs.words.marked import _, ngettext

LOOK_AGAIN, CLAIM, RELEASE = "look_again", "claim", "release"
TURN_BACK, TRY_AGAIN, UNDO_AGAIN = "turn_back", "try_again", "undo_again"
FACT, SNOOZE, ESCALATE = "fact", "snooze", "escalate"
NEEDS_NO_CLAIM = (FACT, ESCALATE)  # whoever knows something says it, and whoever holds the case keeps it

# As a heading, and what it does.
NAMES = {
    LOOK_AGAIN: (_("Look again"), _("It only reads: nothing is sent.")),
    CLAIM: (_("Claim"), _("Each is yours for 15 min. Nothing is sent.")),
    RELEASE: (_("Give back"), _("Each is free for others. Nothing is sent.")),
    TURN_BACK: (_("Undo what stands"), _("Each line shows all that it sends.")),
    TRY_AGAIN: (_("Send again"), _("Each line shows what goes out once more, under its own key.")),
    FACT: (_("Write down a fact"), _("It stands beside each, as your word. Nothing is sent.")),
    SNOOZE: (_("Set aside"), _("Each wakes by itself then, or when it changes. Nothing is sent.")),
    ESCALATE: (_("Escalate"), _("Who can help is told of each. Nothing is sent to any tool.")),
    UNDO_AGAIN: (_("Undo once more"), _("Each line shows the new undoing, under a key of its own.")),
}


def button(act: str, count: int) -> str:
    match act:
        case "look_again":
            return ngettext("Look again at {count:,} case", "Look again at {count:,} cases", count)
        case "claim":
            return ngettext("Claim {count:,} case", "Claim {count:,} cases", count)
        case "release":
            return ngettext("Give back {count:,} case", "Give back {count:,} cases", count)
        case "turn_back":
            return ngettext("Undo what stands of {count:,} case", "Undo what stands of {count:,} cases", count)
        case "try_again":
            return ngettext("Send again for {count:,} case", "Send again for {count:,} cases", count)
        case "fact":
            return ngettext("Write it down for {count:,} case", "Write it down for {count:,} cases", count)
        case "snooze":
            return ngettext("Set {count:,} case aside", "Set {count:,} cases aside", count)
        case "escalate":
            return ngettext("Escalate {count:,} case", "Escalate {count:,} cases", count)
        case _:
            return ngettext("Undo once more for {count:,} case", "Undo once more for {count:,} cases", count)


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
        return Prospect(_("closed since"), _("It is closed; nothing is left to do."))
    if not facts.same:
        return Prospect(_("changed since"), _("It is not as it was when you chose it; read it anew."))
    if facts.holder and not facts.mine and act not in NEEDS_NO_CLAIM:
        held = _("{holder} holds it until {until}.", holder=facts.holder, until=facts.until)
        return Prospect(_("held by others"), held)
    if facts.sending:
        return to_send(facts.sending)
    match act:
        case "look_again":
            return to_look(facts)
        case "claim":
            if facts.mine:
                return Prospect(_("yours already"), _("It is yours already."))
            return Prospect("", _("It becomes yours."))
        case "fact":
            return Prospect("", _("It is written down beside it."))
        case "snooze":
            return to_rest(facts)
        case "escalate":
            if facts.escalated:
                return Prospect(_("escalated already"), _("It is escalated to {whom} already.", whom=facts.escalated))
            return Prospect("", _("They are told; whoever holds it keeps it."))
        case "release":
            if facts.mine:
                return Prospect("", _("It becomes free."))
            return Prospect(_("not yours"), _("It isn't yours."))
        case _:
            return Prospect("", _("Its turn has not come yet."))


def to_rest(facts: ItemFacts) -> Prospect:
    if facts.asks:
        return Prospect(_("waits for an answer"), _("It waits for a second person's answer."))
    if facts.handed:
        return Prospect(_("being handed over"), _("It is being handed over."))
    return Prospect("", _("It is in nobody's hands until then."))


def to_look(facts: ItemFacts) -> Prospect:
    if facts.lookable:
        left = facts.stuck - facts.lookable
        said = ngettext("{count} effect is looked at again.", "{count} effects are looked at again.", facts.lookable)
        if left:
            said = ngettext(
                "{count} effect is looked at again; {left} more can't be looked at.",
                "{count} effects are looked at again; {left} more can't be looked at.",
                facts.lookable,
                left=left,
            )
        return Prospect("", said)
    if facts.stuck:
        return Prospect(_("can't be looked at"), _("Its tool declares no look, or its agent has no right to one."))
    return Prospect(_("nothing is stuck"), _("None of its effects is stuck; a look would tell nothing new."))


def to_send(facts: SendingFacts) -> Prospect:
    if facts.old:
        return Prospect(_("shown long ago"), _("What it sends was shown too long ago; choose it anew."))
    if facts.long:
        return Prospect(
            _("more than a line shows"), _("So much is sent for it that its own page shows it; decide it there.")
        )
    if facts.offered > 1:
        return Prospect(
            _("several at once"),
            _("{count} of its effects could be meant; decide it on its own page.", count=facts.offered),
        )
    if not facts.offered:
        return Prospect(_("not possible"), facts.why_not)
    if not facts.same:
        return Prospect(_("changed since"), _("What would be sent is not what you were shown; read it anew."))
    if facts.flawed:
        return Prospect(
            _("can't be made"), _("As things are one of its requests can't be made; its own page says why.")
        )
    if not facts.requests:
        return Prospect("", _("Sends nothing by itself: what stands can't be undone, and stays stated."))
    said = ngettext(
        "Sends {count} request, if policy and stops let it.",
        "Sends {count} requests, if policy and stops let it.",
        facts.requests,
    )
    return Prospect("", said)


def came_of(act: str, state: str, reasons: Collection[str], *, looking: bool) -> str:
    """What a look that was asked for has told so far, by the case's state and why it needs a person; "" for others.

    `looking`: something of it is unknown, so the engine is at it."""
    if act != LOOK_AGAIN:
        return ""
    if state in ("resolved", "written_off"):
        return _("clear by now")
    if looking:
        return MOVES[0]
    return _("could not be read") if "unreachable" in reasons else _("still open")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CameFacts:
    """`states`: (state, reason) of the effects that the act was about, or of their undoings; `turning`: the engine has
    more to do of the run; `undoing`: it was to undo."""

    live: bool
    turning: bool
    states: tuple[tuple[str, str], ...]
    undoing: bool


MOVES = (_("being looked at"), _("under way"))  # what has come so far and goes on by itself
UNDER_WAY = {"blocked", "ready", "dispatched", "pending", "unknown"}
OWN_WAITS = {"dependency", "order", "gate", "rate"}  # for what the engine itself brings about


def came_of_sending(facts: CameFacts) -> str:
    """What has come of what was sent, in a word to count by."""
    states = {state for state, _ in facts.states}
    waits = {reason for state, reason in facts.states if state == "blocked"} - OWN_WAITS
    if "stuck" in states:
        return _("stuck again")
    if "approval" in waits:
        return _("waits for approval")
    if waits:
        return _("held up")
    if states & UNDER_WAY or facts.turning:
        return MOVES[1]
    if facts.live:
        return _("still open")
    if not states:
        return _("nothing to undo")
    if states == {"verified"}:
        return _("undone, verified") if facts.undoing else _("done, verified")
    if states <= {"verified", "acknowledged"}:
        return _("undone, not verifiable") if facts.undoing else _("done, not verifiable")
    return _("ended otherwise")


def counted(kinds: Iterable[str]) -> list[tuple[str, int]]:
    """How many of each kind, the most first."""
    return Counter(kinds).most_common()

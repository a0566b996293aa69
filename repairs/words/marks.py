"""A state as it is shown everywhere: a word, a shape of the sprite, and a tone. Never colour alone."""

from __future__ import annotations

import dataclasses

from repairs.words.marked import _
from workflows.states import CaseState, EffectState, Phase, RunState, StepState, World


@dataclasses.dataclass(frozen=True, slots=True)
class Mark:
    """`shape` names a symbol of the sprite; `tone` is calm, going, good, doubt or bad; `hint` says it in a sentence."""

    word: str
    shape: str
    tone: str
    hint: str


E, W, R, C, T = EffectState, World, RunState, CaseState, StepState

EFFECT: dict[str, Mark] = {
    E.BLOCKED: Mark(_("blocked"), "bars", "calm", _("It waits for something else; nothing was sent.")),
    E.READY: Mark(_("ready"), "play", "calm", _("It is due to be sent.")),
    E.DISPATCHED: Mark(_("dispatched"), "arrow", "going", _("A worker holds it and may be calling now.")),
    E.PENDING: Mark(_("pending"), "hourglass", "going", _("The provider took the work on and is still at it.")),
    E.ACKNOWLEDGED: Mark(_("acknowledged"), "ring", "going", _("The provider said yes. That is not yet a look.")),
    E.UNKNOWN: Mark(_("unknown"), "question", "doubt", _("Nobody knows whether it happened; it is being looked at.")),
    E.VERIFIED: Mark(_("verified"), "check", "good", _("A look showed it: ours, as asked.")),
    E.STUCK: Mark(_("stuck"), "octagon", "bad", _("Only a person can go on.")),
    E.FAILED: Mark(_("failed"), "cross", "bad", _("It was not done, and nothing of it is outside.")),
    E.CANCELLED: Mark(_("cancelled"), "slash", "calm", _("It was called off, and nothing of it is outside.")),
    E.UNDONE: Mark(_("undone"), "back", "calm", _("A compensation undid it.")),
    E.WRITTEN_OFF: Mark(_("written off"), "dash", "doubt", _("People decided to leave it as it is.")),
}

WORLD: dict[str, Mark] = {
    W.NOTHING: Mark(_("nothing"), "empty", "calm", _("Nothing of it is outside.")),
    W.PRESENT: Mark(_("present"), "check", "good", _("It was seen outside.")),
    W.DIFFERS: Mark(_("differs"), "unequal", "bad", _("Something is there, but not ours or not as asked.")),
    W.SEVERAL: Mark(_("several"), "several", "bad", _("It is there more than once.")),
    W.GONE: Mark(_("gone"), "empty", "calm", _("It was there and was seen to be gone.")),
    W.UNKNOWN: Mark(_("unknown"), "question", "doubt", _("Nothing is proved.")),
}

RUN: dict[str, Mark] = {
    R.OPEN: Mark(_("open"), "play", "going", _("It takes more steps.")),
    R.RUNNING: Mark(_("running"), "arrow", "going", _("Its steps are being done.")),
    R.UNWINDING: Mark(_("unwinding"), "back", "doubt", _("It turns back: what stands is being compensated.")),
    R.STUCK: Mark(_("stuck"), "octagon", "bad", _("Only a person can go on.")),
    R.WRITTEN_OFF: Mark(_("written off"), "dash", "doubt", _("People decided to leave what remains.")),
    R.REPAIRED: Mark(_("repaired"), "wrench", "good", _("A person made it good.")),
    R.COMPLETED: Mark(_("completed"), "check", "good", _("All its steps are done.")),
    R.COMPENSATED: Mark(_("compensated"), "back", "calm", _("All it did was undone; nothing is left.")),
    R.COMPENSATED_WITH_RESIDUE: Mark(
        _("compensated with residue"), "residue", "doubt", _("It was undone, but something remains.")
    ),
    R.CANCELLED: Mark(_("cancelled"), "slash", "calm", _("It was called off before anything happened.")),
    R.FAILED: Mark(_("failed"), "cross", "bad", _("It did not reach its goal, and nothing happened outside.")),
}

CASE: dict[str, Mark] = {
    C.OPEN: Mark(_("open"), "octagon", "bad", _("It needs a person.")),
    C.WAITING: Mark(_("waiting"), "hourglass", "doubt", _("It waits for somebody's answer.")),
    C.RESOLVED: Mark(_("resolved"), "check", "good", _("Nothing of this run needs a person any more.")),
    C.WRITTEN_OFF: Mark(_("written off"), "dash", "calm", _("People decided to leave what remains.")),
}

STEP: dict[str, Mark] = {
    T.PENDING: Mark(_("pending"), "bars", "calm", _("It waits for its turn.")),
    T.ACTIVE: Mark(_("active"), "arrow", "going", _("Its effect is under way.")),
    T.DONE: Mark(_("done"), "check", "good", _("Its effect is settled.")),
    T.FAILED: Mark(_("failed"), "cross", "bad", _("It was not done.")),
    T.UNDONE: Mark(_("undone"), "back", "calm", _("What it did was undone.")),
    T.SKIPPED: Mark(_("skipped"), "slash", "calm", _("It was never begun.")),
}

# The words of workflows.models.approval, which knows Django.
APPROVAL: dict[str, Mark] = {
    "asked": Mark(_("asked"), "person", "doubt", _("It waits for a person's word; nothing is sent.")),
    "granted": Mark(_("approved"), "ring", "going", _("People approved it; it is not sent yet.")),
    "spent": Mark(_("used"), "check", "good", _("People approved it, and it was sent once.")),
    "refused": Mark(_("refused"), "cross", "bad", _("A person said no; it is not sent.")),
    "expired": Mark(_("expired"), "clock", "calm", _("Its time ran out; time never approves.")),
    "void": Mark(_("void"), "slash", "calm", _("What was asked is not what would be sent any more.")),
}

BATCH: dict[str, Mark] = {
    "draft": Mark(_("not asked for"), "empty", "calm", _("These cases were chosen; nothing was asked for yet.")),
    "asked": Mark(_("asked"), "person", "doubt", _("It waits for a second person's word; nothing is done.")),
    "running": Mark(_("running"), "arrow", "going", _("It goes through its cases.")),
    "stopped": Mark(_("stopped"), "bars", "doubt", _("It was stopped; the cases that are left wait.")),
    "done": Mark(_("done"), "check", "good", _("All its cases were met.")),
    "declined": Mark(
        _("declined"), "cross", "calm", _("A person said no, or nobody answered in time; nothing was done.")
    ),
}

BATCH_ITEM: dict[str, Mark] = {
    "waiting": Mark(_("waiting"), "bars", "calm", _("It was not its turn yet.")),
    "done": Mark(_("done"), "check", "good", _("The act was done, or asked for.")),
    "skipped": Mark(_("skipped"), "slash", "calm", _("It was left alone.")),
    "refused": Mark(_("refused"), "cross", "bad", _("A rule said no; nothing was done.")),
    "failed": Mark(_("failed"), "cross", "bad", _("An error of the program; nothing was done.")),
}

# By the words of `repairs.words.batch`: what came of an act on one of many cases.
CAME: dict[str, Mark] = {
    mark.word: mark
    for mark in (
        Mark(_("clear by now"), "check", "good", _("Nothing of it needs a person any more.")),
        Mark(_("being looked at"), "arrow", "going", _("The engine looks.")),
        Mark(_("could not be read"), "question", "doubt", _("The provider could not be reached.")),
        Mark(_("still open"), "octagon", "bad", _("It needs a person still.")),
        Mark(_("under way"), "arrow", "going", _("The engine is at it.")),
        Mark(_("stuck again"), "octagon", "bad", _("It was sent or tried, and needs a person again.")),
        Mark(_("waits for approval"), "person", "doubt", _("People are asked before it is sent.")),
        Mark(_("held up"), "bars", "doubt", _("A stop, a budget or policy keeps it; its page says which.")),
        Mark(_("nothing to undo"), "empty", "calm", _("Nothing stood that could be undone.")),
        Mark(_("undone, verified"), "check", "good", _("A look showed each undoing.")),
        Mark(_("done, verified"), "check", "good", _("A look showed it.")),
        Mark(_("undone, not verifiable"), "ring", "doubt", _("The provider said yes; nothing can look at it.")),
        Mark(_("done, not verifiable"), "ring", "doubt", _("The provider said yes; nothing can look at it.")),
        Mark(_("ended otherwise"), "dash", "calm", _("Its page says how.")),
    )
}

GUESS: dict[str, Mark] = {
    "open": Mark(_("open"), "question", "doubt", _("Nobody has confirmed or refuted it.")),
    "confirm": Mark(_("confirmed"), "check", "good", _("Somebody showed that it was right.")),
    "refute": Mark(_("refuted"), "cross", "calm", _("Somebody showed that it was wrong.")),
}

PLACE: dict[str, Mark] = {
    "open": Mark(_("to do"), "empty", "calm", _("Nobody has done it.")),
    "tick": Mark(_("done"), "check", "good", _("It showed what it should.")),
    "deviate": Mark(_("otherwise"), "unequal", "doubt", _("It was done, and was otherwise than expected.")),
}

REVIEW: dict[str, Mark] = {
    "right": Mark(_("right"), "check", "good", _("Another person says that it could not wait, and was right.")),
    "wrong": Mark(_("wrong"), "cross", "bad", _("Another person says that it should not have been done alone.")),
}

CHAIN: dict[str, Mark] = {
    "whole": Mark(_("whole"), "check", "good", _("Its entries in the journal fit together, and none is missing.")),
    "broken": Mark(_("broken"), "cross", "bad", _("Its entries in the journal don't fit together.")),
}

KINDS = {
    "approval": APPROVAL,
    "effect": EFFECT,
    "world": WORLD,
    "run": RUN,
    "case": CASE,
    "step": STEP,
    "batch": BATCH,
    "batch_item": BATCH_ITEM,
    "came": CAME,
    "guess": GUESS,
    "place": PLACE,
    "review": REVIEW,
    "chain": CHAIN,
}


def mark(kind: str, value: str) -> Mark:
    """A word nobody knows yet is shown as it is."""
    return KINDS[kind].get(value) or Mark(value.replace("_", " "), "question", "doubt", "")


def phase_hint(phase: str) -> str:
    return {
        Phase.OPEN: "takes more steps",
        Phase.RUNNING: "under way",
        Phase.UNWINDING: "turning back",
        Phase.OVER: "over",
    }.get(Phase(phase), phase)

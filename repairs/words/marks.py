"""A state as it is shown everywhere: a word, a shape of the sprite, and a tone. Never colour alone."""

from __future__ import annotations

import dataclasses

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
    E.BLOCKED: Mark("blocked", "bars", "calm", "It waits for something else; nothing was sent."),
    E.READY: Mark("ready", "play", "calm", "It is due to be sent."),
    E.DISPATCHED: Mark("dispatched", "arrow", "going", "A worker holds it and may be calling now."),
    E.PENDING: Mark("pending", "hourglass", "going", "The provider took the work on and is still at it."),
    E.ACKNOWLEDGED: Mark("acknowledged", "ring", "going", "The provider said yes. That is not yet a look."),
    E.UNKNOWN: Mark("unknown", "question", "doubt", "Nobody knows whether it happened; it is being looked at."),
    E.VERIFIED: Mark("verified", "check", "good", "A look showed it: ours, as asked."),
    E.STUCK: Mark("stuck", "octagon", "bad", "Only a person can go on."),
    E.FAILED: Mark("failed", "cross", "bad", "It was not done, and nothing of it is outside."),
    E.CANCELLED: Mark("cancelled", "slash", "calm", "It was called off, and nothing of it is outside."),
    E.UNDONE: Mark("undone", "back", "calm", "A compensation undid it."),
    E.WRITTEN_OFF: Mark("written off", "dash", "doubt", "People decided to leave it as it is."),
}

WORLD: dict[str, Mark] = {
    W.NOTHING: Mark("nothing", "empty", "calm", "Nothing of it is outside."),
    W.PRESENT: Mark("present", "check", "good", "It was seen outside."),
    W.DIFFERS: Mark("differs", "unequal", "bad", "Something is there, but not ours or not as asked."),
    W.SEVERAL: Mark("several", "several", "bad", "It is there more than once."),
    W.GONE: Mark("gone", "empty", "calm", "It was there and was seen to be gone."),
    W.UNKNOWN: Mark("unknown", "question", "doubt", "Nothing is proved."),
}

RUN: dict[str, Mark] = {
    R.OPEN: Mark("open", "play", "going", "It takes more steps."),
    R.RUNNING: Mark("running", "arrow", "going", "Its steps are being done."),
    R.UNWINDING: Mark("unwinding", "back", "doubt", "It turns back: what stands is being compensated."),
    R.STUCK: Mark("stuck", "octagon", "bad", "Only a person can go on."),
    R.WRITTEN_OFF: Mark("written off", "dash", "doubt", "People decided to leave what remains."),
    R.REPAIRED: Mark("repaired", "wrench", "good", "A person made it good."),
    R.COMPLETED: Mark("completed", "check", "good", "All its steps are done."),
    R.COMPENSATED: Mark("compensated", "back", "calm", "All it did was undone; nothing is left."),
    R.COMPENSATED_WITH_RESIDUE: Mark(
        "compensated with residue", "residue", "doubt", "It was undone, but something remains."
    ),
    R.CANCELLED: Mark("cancelled", "slash", "calm", "It was called off before anything happened."),
    R.FAILED: Mark("failed", "cross", "bad", "It did not reach its goal, and nothing happened outside."),
}

CASE: dict[str, Mark] = {
    C.OPEN: Mark("open", "octagon", "bad", "It needs a person."),
    C.WAITING: Mark("waiting", "hourglass", "doubt", "It waits for somebody's answer."),
    C.RESOLVED: Mark("resolved", "check", "good", "Nothing of this run needs a person any more."),
    C.WRITTEN_OFF: Mark("written off", "dash", "calm", "People decided to leave what remains."),
}

STEP: dict[str, Mark] = {
    T.PENDING: Mark("pending", "bars", "calm", "It waits for its turn."),
    T.ACTIVE: Mark("active", "arrow", "going", "Its effect is under way."),
    T.DONE: Mark("done", "check", "good", "Its effect is settled."),
    T.FAILED: Mark("failed", "cross", "bad", "It was not done."),
    T.UNDONE: Mark("undone", "back", "calm", "What it did was undone."),
    T.SKIPPED: Mark("skipped", "slash", "calm", "It was never begun."),
}

# The words of workflows.models.approval, which knows Django.
APPROVAL: dict[str, Mark] = {
    "asked": Mark("asked", "person", "doubt", "It waits for a person's word; nothing is sent."),
    "granted": Mark("approved", "ring", "going", "People approved it; it is not sent yet."),
    "spent": Mark("used", "check", "good", "People approved it, and it was sent once."),
    "refused": Mark("refused", "cross", "bad", "A person said no; it is not sent."),
    "expired": Mark("expired", "clock", "calm", "Its time ran out; time never approves."),
    "void": Mark("void", "slash", "calm", "What was asked is not what would be sent any more."),
}

BATCH: dict[str, Mark] = {
    "draft": Mark("not asked for", "empty", "calm", "These cases were chosen; nothing was asked for yet."),
    "asked": Mark("asked", "person", "doubt", "It waits for a second person's word; nothing is done."),
    "running": Mark("running", "arrow", "going", "It goes through its cases."),
    "stopped": Mark("stopped", "bars", "doubt", "It was stopped; the cases that are left wait."),
    "done": Mark("done", "check", "good", "All its cases were met."),
    "declined": Mark("declined", "cross", "calm", "A person said no, or nobody answered in time; nothing was done."),
}

BATCH_ITEM: dict[str, Mark] = {
    "waiting": Mark("waiting", "bars", "calm", "It was not its turn yet."),
    "done": Mark("done", "check", "good", "The act was done, or asked for."),
    "skipped": Mark("skipped", "slash", "calm", "It was left alone."),
    "refused": Mark("refused", "cross", "bad", "A rule said no; nothing was done."),
    "failed": Mark("failed", "cross", "bad", "An error of the program; nothing was done."),
}

GUESS: dict[str, Mark] = {
    "open": Mark("open", "question", "doubt", "Nobody has confirmed or refuted it."),
    "confirm": Mark("confirmed", "check", "good", "Somebody showed that it was right."),
    "refute": Mark("refuted", "cross", "calm", "Somebody showed that it was wrong."),
}

PLACE: dict[str, Mark] = {
    "open": Mark("to do", "empty", "calm", "Nobody has done it."),
    "tick": Mark("done", "check", "good", "It showed what it should."),
    "deviate": Mark("otherwise", "unequal", "doubt", "It was done, and was otherwise than expected."),
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
    "guess": GUESS,
    "place": PLACE,
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

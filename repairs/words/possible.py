"""What a person may ask of the engine for a stuck effect besides the next safe act, each with what it will do. Pure."""

from __future__ import annotations

import datetime as dt

from repairs.words.facts import EffectFacts
from repairs.words.marked import _
from workflows.policies import again
from workflows.states import World

TRY_AGAIN, SKIP, FOUND, ABSENT = "try_again", "skip", "found", "absent"
UNDO_REST, UNDO_AGAIN = "undo_rest", "undo_again"

CANCEL, HOLD, RESUME = "cancel", "hold", "resume"

NAMES = {
    TRY_AGAIN: _("Send again"),
    SKIP: _("Go on without it"),
    FOUND: _("Record: it is there"),
    ABSENT: _("Record: it is not there"),
    UNDO_REST: _("Undo the rest"),
    UNDO_AGAIN: _("Undo it once more"),
}


OF_THE_RUN = {
    CANCEL: _("Cancel the run: undo what stands"),
    HOLD: _("Stop the run where it is"),
    RESUME: _("Let the run go forward again"),
}
DOES = {
    CANCEL: _(
        "What has not left doesn't leave any more. What stands is undone, in order and under policy; after an act that "
        "can't be undone the run does what its workflow says, which may be to wait for you."
    ),
    HOLD: _("What has not left doesn't leave any more, and nothing is undone: what stands stays until people decide."),
    RESUME: _(
        "Put right first what it failed of. Steps that failed or were called off are begun anew, each under a new key; "
        "what was done isn't done again. Its time begins anew."
    ),
}


def of_the_run(*, forward: bool, held: bool) -> list[tuple[str, str, str]]:
    """The same for the run as a whole. `forward`: it doesn't turn back; `held`: it does, and waits for a person."""
    acts = ([CANCEL, HOLD] if forward else []) + ([RESUME] if held else [])
    return [(act, OF_THE_RUN[act], DOES[act]) for act in acts]


def why_not_again(effect: EffectFacts, now: dt.datetime) -> str:
    """ "" where the same request may go out once more under its key."""
    protected = effect.keyed and effect.key_until is not None and now < effect.key_until
    return again.why_not(
        world=effect.world,
        reason=effect.reason,
        acknowledged=effect.send is not None and effect.send.outcome == "acknowledged",
        protected=protected,
        undoing=effect.undoing,
    )


def possible(effect: EffectFacts, *, now: dt.datetime, going_on: bool) -> list[tuple[str, str, str]]:
    """(act, its name, what it sends and what it doesn't). `going_on`: the run doesn't turn back."""
    if not effect.stuck:
        return []
    acts: list[tuple[str, str]] = []
    if effect.reason == "less_remains":
        acts.append(
            (UNDO_REST, _("Sends the undoing for exactly what is left, under policy; nothing that was undone."))
        )
    elif effect.reason in ("reversed", "late_answer") and not effect.undoing:
        acts.append((UNDO_AGAIN, _("Sends a new undoing with a key of its own; the first one isn't repeated.")))
    if not why_not_again(effect, now):
        does = _("Sends the same request under the same key, after policy and stops.")
        if effect.reason == "refused":
            does = _("Put right first what it was refused for. {does}", does=does)
        acts.append((TRY_AGAIN, does))
    if effect.undoing:
        acts.append((FOUND, _("Sends nothing. You say that you saw it undone; what it undoes counts as gone.")))
    else:
        acts.append((FOUND, _("Sends nothing. You say that you saw it, ours and as asked; the run goes on with it.")))
        if effect.remedy:
            does = _("Sends nothing. You say that nothing of it is outside; the run is what it is without it.")
        else:
            does = _("Sends nothing. You say that nothing of it is outside; its step has failed then.")
        acts.append((ABSENT, does))
        if going_on and not effect.remedy and (effect.world == World.NOTHING or not effect.attempts):
            acts.append((SKIP, _("Sends nothing of it, now or later; the steps after it go on without what it tells.")))
    return [(act, name_of(act, effect), does) for act, does in acts]


def name_of(act: str, effect: EffectFacts) -> str:
    return _("Record: it is undone") if act == FOUND and effect.undoing else NAMES[act]

"""What the engine would do if it went on with a run now: what it would send, look at first, leave to a person, and
what it would not repeat. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from repairs.words.facts import EffectFacts
from repairs.words.marked import _
from repairs.words.reasons import HELD, because_of
from workflows.states import EffectState, Phase, World

E = EffectState


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One effect, or a step that has none yet (then `effect` is "")."""

    step: str
    tool: str
    says: str
    effect: str = ""
    undoing: bool = False
    irreversible: bool = False
    key: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Resume:
    performs: list[Item]
    looks: list[Item]
    waits: list[Item]
    people: list[Item]
    keeps: list[Item]


@dataclasses.dataclass(frozen=True, slots=True)
class Turn:
    """What the engine's rules say of a run that turns back: ids of what is called off, and of what is undone now."""

    called_off: frozenset[str] = frozenset()
    undone_now: frozenset[str] = frozenset()


PERFORMS, LOOKS, WAITS, PEOPLE, KEEPS = "performs", "looks", "waits", "people", "keeps"
FIRST_TIME = _("is sent for the first time")
AGAIN = _("is sent again under the same key: what was sent before did nothing")
SAME_KEY = _("the same request is sent again under the same key, which the provider honours")
LOOKED_AT = _("is looked at first; only where nothing of it is there it is sent again, under the same key")
ONLY_LOOKED_AT = _("is looked at; what was acknowledged is never sent again")
AT_IT = _("the provider is still at it; it is asked how far it is, not sent again")
CALLING = _("a worker may be calling now; its answer counts, or a look does")
NOBODY_KNOWS = _("nobody can know whether it happened; it isn't sent again by itself")
CALLED_OFF = _("is called off; it was never sent")
UNDONE_LATER = _("stands and is not wanted; it is undone only after what came later is")
BEGUN_NO_MORE = _("was never begun, and isn't any more")
UNDONE_NEXT = _("stands and is not wanted; its undoing is sent, with a key of its own")
WORD_ONLY = _("done by the provider's word; it can't be looked at and is never sent again")
SEEN = _("done, a look showed it")
RESTS = {
    E.FAILED: _("was not done and stays so"),
    E.CANCELLED: _("was called off"),
    E.UNDONE: _("was undone"),
    E.WRITTEN_OFF: _("was left as it is by people"),
}
BEGUN_LATER = _("is begun when what it follows is done")


def resume(
    effects: Sequence[EffectFacts],
    waiting: Iterable[tuple[str, str, str]] = (),
    *,
    phase: str,
    turn: Turn | None = None,
) -> Resume | None:
    """`waiting`: (step, tool, class) of steps without effects; `turn` where the run turns back. None where it is over:
    nothing goes on."""
    if phase == Phase.OVER:
        return None
    undone = {effect.step for effect in effects if effect.undoing and effect.state != E.CANCELLED}
    found: dict[str, list[Item]] = {PERFORMS: [], LOOKS: [], WAITS: [], PEOPLE: [], KEEPS: []}
    for effect in effects:
        where, says = fate(effect, turn or Turn(), undone=effect.step in undone)
        found[where].append(item(effect, says))
    where, says = (KEEPS, BEGUN_NO_MORE) if phase == Phase.UNWINDING else (PERFORMS, BEGUN_LATER)
    for step, tool, kind in waiting:
        found[where].append(Item(step=step, tool=tool, says=says, irreversible=kind == "irreversible"))
    return Resume(found[PERFORMS], found[LOOKS], found[WAITS], found[PEOPLE], found[KEEPS])


def fate(effect: EffectFacts, turn: Turn, *, undone: bool) -> tuple[str, str]:
    """Where it belongs, and why. `undone`: there is an undoing of it already."""
    match EffectState(effect.state):
        case E.BLOCKED | E.READY if effect.id in turn.called_off:
            return KEEPS, CALLED_OFF
        case E.BLOCKED:
            why = HELD if effect.reason == "hold" else because_of(effect)
            if effect.attempts:
                then = _("{why}; then it is sent again under the same key: what was sent before did nothing", why=why)
            else:
                then = _("{why}; then it is sent for the first time", why=why)
            return WAITS, then
        case E.READY:
            return PERFORMS, AGAIN if effect.attempts else FIRST_TIME
        case E.DISPATCHED:
            return LOOKS, CALLING
        case E.PENDING:
            return LOOKS, AT_IT
        case E.UNKNOWN if effect.can_look:
            return LOOKS, LOOKED_AT
        case E.UNKNOWN if effect.keyed:
            return PERFORMS, SAME_KEY
        case E.UNKNOWN:
            return PEOPLE, NOBODY_KNOWS
        case E.STUCK:
            return PEOPLE, _("needs a person before anything goes on with it")
        case E.ACKNOWLEDGED if effect.verifiable:
            return LOOKS, ONLY_LOOKED_AT
        case E.ACKNOWLEDGED | E.VERIFIED if effect.id in turn.undone_now:
            return PERFORMS, UNDONE_NEXT
        case E.ACKNOWLEDGED | E.VERIFIED if effect.unwanted and effect.can_undo and not undone:
            return WAITS, UNDONE_LATER
        case E.ACKNOWLEDGED:
            return KEEPS, WORD_ONLY
        case E.VERIFIED:
            return KEEPS, SEEN
        case E.FAILED | E.CANCELLED | E.UNDONE | E.WRITTEN_OFF as rest:
            return KEEPS, RESTS[rest]


def item(effect: EffectFacts, says: str) -> Item:
    return Item(
        step=effect.step,
        tool=effect.tool,
        says=says,
        effect=effect.id,
        undoing=effect.undoing,
        irreversible=effect.irreversible and not effect.undoing,
        key=effect.key if effect.attempts or effect.world != World.NOTHING else "",
    )

"""A case in one sentence of harm: what stands outside, what should, and why nobody but a person can go on."""

from __future__ import annotations

from collections.abc import Sequence

from repairs.words.facts import EffectFacts, Reason, Standing, standing, wanted_gone
from repairs.words.marked import _
from repairs.words.reasons import because
from workflows.states import Kind
from workflows.visible import visible

SUBJECT_LIMIT = 80  # a label longer than a line pushes the harm out of sight
STATEMENT_LIMIT = 200  # the whole statement stands in the case's table
SENTENCE_LIMIT = 500  # the column's width

PERSON = "person"  # the reason of a run that needs a person because one says so
HOLD = "hold"  # of one that stopped where it is

# Words that begin a statement and lose their capital inside a sentence; a name keeps its own.
OPENERS = frozenset(["A", "An", "The", "This", "That", "These", "Those", "One", "Some", "Its", "Their"])


def sentence(subject: str, reasons: Sequence[Reason], effects: Sequence[EffectFacts], *, over: bool = True) -> str:
    """The sentence of a case. `over`: nothing of its run goes on.

    1. The most harmful reason leads, in the words of the effect it is about.
    2. A reason without an effect speaks of the run.
    3. How many other effects need a person is said at the end.
    """
    ranked = sorted(reasons, key=lambda reason: harm_rank(find(reason, effects), reason))
    if not ranked:
        return one_line(f"{cut(subject, SUBJECT_LIMIT)}: no effect of this run needs a person any more.")
    lead = ranked[0]
    effect = find(lead, effects)
    said = of_effect(effect, lead.code) if effect else of_run(lead, effects, over=over)
    others = len({reason.effect for reason in ranked if reason.effect and reason.effect != lead.effect})
    tail = f"; {others} more {'effect needs' if others == 1 else 'effects need'} a person" if others else ""
    return one_line(f"{cut(subject, SUBJECT_LIMIT)}: {said}{tail}.")


def find(reason: Reason, effects: Sequence[EffectFacts]) -> EffectFacts | None:
    return next((effect for effect in effects if reason.effect and effect.id == reason.effect), None)


def harm_rank(effect: EffectFacts | None, reason: Reason) -> tuple[int, int, str]:
    """Smaller is worse: not known comes before standing wrongly, and what a customer sees before what staff sees."""
    if effect is None:
        return (3, 0, reason.code)
    order = {Standing.SEVERAL: 0, Standing.UNKNOWN: 1, Standing.DIFFERS: 1, Standing.STANDS: 2, Standing.ABSENT: 4}
    return (order[standing(effect)], 0 if effect.customer_visible else 1, effect.id)


def of_effect(effect: EffectFacts, code: str) -> str:
    if code == Kind.REMEDY and standing(effect) is Standing.ABSENT:
        return f"{doer(effect)} is to make good what went wrong; it is on its way, and nothing of it is outside yet"
    return f"{harm(effect)}; {because(code or effect.reason, undoing=effect.undoing)}"


def harm(effect: EffectFacts) -> str:
    """What is true outside, against what should be: a clause without its reason."""
    thing = statement(effect)
    gone = wanted_gone(effect)
    match standing(effect):
        case Standing.STANDS if gone:
            return f"{thing}, although it should be gone"
        case Standing.STANDS:
            return thing
        case Standing.UNKNOWN if gone:
            return f"it should be gone, and it is not known whether it is: {thing}"
        case Standing.UNKNOWN:
            return f"it is not known whether this is so: {thing}"
        case Standing.DIFFERS if gone:
            return f"something is there in place of what should be gone: {thing}"
        case Standing.DIFFERS:
            return f"something is there, but not what was asked for: {thing}"
        case Standing.SEVERAL:
            return f"more than one is there {'where none should be' if gone else 'where one was asked for'}: {thing}"
        case Standing.ABSENT if gone:
            return f"nothing is left of what {doer(effect)} did"
        case Standing.ABSENT:
            return f"what {doer(effect)} was to do was not done"


def of_run(reason: Reason, effects: Sequence[EffectFacts], *, over: bool) -> str:
    """A case about the run itself, such as a failed step of a workflow that says hold."""
    stands = sum(1 for e in effects if not e.undoing and not e.read_only and standing(e) is Standing.STANDS)
    doubt = sum(1 for e in effects if not e.undoing and not e.read_only and standing(e) is Standing.UNKNOWN)
    where = f" at step {reason.step}" if reason.step else ""
    facts = [f"{stands or 'none'} of its effects {'stand' if stands > 1 else 'stands'}"]
    if doubt:
        facts.append(f"of {doubt} it is not known whether {'it does' if doubt == 1 else 'they do'}")
    if reason.code == PERSON:
        when = "still wrong, although the run is over" if over else "wrong, while the run goes on"
        return f"a person says that something is {when}; {' and '.join(facts)}"
    why = because(reason.code, undoing=True)  # the clause that speaks of something, where no effect is named
    if reason.code == HOLD and not reason.step:  # a person stopped it, or its time ran out: no step of it failed
        why = "it stays as it is until people decide"
    return f"the work stopped half way{where}, and {' and '.join(facts)}; {why}"


def statement(effect: EffectFacts) -> str:
    """The manifest's own sentence of what stands, fitted into ours; without one, the names of tool and step."""
    text = effect.statement.strip()
    if not text:
        return f"what {doer(effect)} did stands"
    text = cut(text.rstrip(" .!…"), STATEMENT_LIMIT)
    first, _, rest = text.partition(" ")
    return f"{first.lower()} {rest}" if first in OPENERS else text


def doer(effect: EffectFacts) -> str:
    return _("{tool} (step {step})", tool=effect.tool, step=effect.step)


def cut(text: str, limit: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def one_line(text: str) -> str:
    """Bounded, and with nothing in it that a terminal or a page could act on: hidden characters are shown as codes."""
    return cut(visible(text), SENTENCE_LIMIT)

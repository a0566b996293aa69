"""How a run turns back: what is to be undone, in which order, and what needs a person. Pure; `advance` acts on it.

1. What has not left is cancelled. What is under way runs to its answer; unknown is resolved first.
2. What stands is undone in reverse order of dependency. A stuck undoing holds back what it depends on, not the rest.
3. What stands and can't be undone needs a person, unless the workflow accepts irreversible acts as residue.
4. Remedies are neither called off nor undone by it; it isn't over before each of them is settled or at rest.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from workflows.policies import order
from workflows.policies.after_look import LOOKED_AT_AGAIN, REVERSED
from workflows.policies.residue import partial
from workflows.policies.spending import for_a_person
from workflows.states import EffectState, Kind, StepState

S = EffectState
IMPOSSIBLE = ("refused", "window")  # why an undoing can't be done this way, ever
UNDO_AGAIN = "undo_again"  # the reason of an effect that a person has undone once more
REMEDY = Kind.REMEDY.value  # why a run needs a person while a remedy is under way
REOPENED = "remedy"  # the ending of a run that was over, and is open again for a remedy and nothing else
STANDS = ("written_off", REOPENED)  # endings that leave everything as it is
UNDER_WAY = {S.DISPATCHED, S.PENDING, S.UNKNOWN}


@dataclasses.dataclass(slots=True)
class Course:
    """What is to be done now.

    `fall_back`: an effect, its refused undoing, and the tool to try next; `people`: reasons for a person; `over`:
    nothing remains to be done or waited for.
    """

    cancel: list[Any] = dataclasses.field(default_factory=list)
    doubtful: list[Any] = dataclasses.field(default_factory=list)
    compensate: list[Any] = dataclasses.field(default_factory=list)
    fall_back: list[tuple[Any, Any, str]] = dataclasses.field(default_factory=list)
    undone: list[tuple[Any, bool]] = dataclasses.field(default_factory=list)
    reversed: list[Any] = dataclasses.field(default_factory=list)
    people: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    over: bool = False


def reason_of(effect: Any, step: Any, code: str = "", detail: str = "") -> dict[str, Any]:
    return {
        "code": code or effect.reason,
        "effect": str(effect.id),
        "step": step.name,
        "tool": step.tool.name,
        "detail": detail or effect.detail,
    }


def mode_of(run: Any, spec: Mapping[str, Any], effects: Iterable[Any]) -> str:
    """compensate | hold | written_off | remedy | wait: what the workflow says, given what irreversible act may be done.

    "forward" keeps trying within limits; once they are spent it is a hold. So is a run that was over and is open again.
    """
    if run.ending != "compensate":
        return run.ending if run.ending in STANDS else "hold"
    final = [e for e in effects if e.forward and e.irreversible and not e.at_rest]
    if any(_under_way(e) or (e.state == S.ACKNOWLEDGED and e.verifiable) for e in final):
        return "wait"
    stands = [e for e in final if e.world not in ("nothing", "gone")]
    if stands and spec["after_irreversible"] != "compensate" and run.end_cause != "person":
        return "hold"
    return "compensate"


def course_of(run: Any, steps: list[Any], effects: list[Any], *, ahead: bool = False) -> Course:
    """With `ahead` also what follows once each undoing has gone well."""
    course = Course()
    mode = mode_of(run, run.workflow.spec, effects)
    by_step: dict[Any, list[Any]] = {}
    for effect in effects:
        if effect.forward:
            by_step.setdefault(effect.step_id, []).append(effect)  # several where a step was begun anew
    undoing = {e.compensates_id: e for e in effects if e.compensates_id and e.state != S.CANCELLED}
    below = order.dependants(steps)
    cleared: dict[str, bool] = {}
    for step in sorted(steps, key=lambda s: -s.ordinal):
        free = all(cleared.get(name, True) for name in below[step.name])
        known = len(course.compensate)
        clear = [_clear(course, mode, step, e, undoing.get(e.id), free) for e in by_step.get(step.id, ())]
        cleared[step.name] = all(clear)
        if ahead and len(course.compensate) > known:
            cleared[step.name] = True
    names = {step.id: step for step in steps}
    course.people += [whose(e, names[e.step_id]) for e in effects if asked_by_person(e)]
    if mode == "hold" and run.end_cause:  # one that went well, and is open again, waits for what is stuck in it only
        _hold(course, run, steps, effects)
    made = course.compensate or course.fall_back
    moving = course.cancel or course.doubtful or made or course.people or course.undone or course.reversed
    course.over = not moving and mode != "wait" and all(cleared.values())
    return course


def _clear(course: Course, mode: str, step: Any, effect: Any, undoing: Any, free: bool) -> bool:
    """Puts what this effect needs into the course; whether it no longer holds back what it depends on."""
    if effect.at_rest:
        return undoing is None or _laid_to_rest(course, step, effect, undoing)
    if _under_way(effect):
        _in_hand(course, step, effect)
        return False
    if effect.state in (S.BLOCKED, S.READY):
        (course.doubtful if effect.doubt else course.cancel).append(effect)
        return False
    if effect.state == S.ACKNOWLEDGED and effect.verifiable:
        return False
    if effect.read_only or effect.met:
        return True
    if mode == "written_off" and undoing is not None:
        return _left(course, step, effect, undoing)
    if mode != "compensate":
        if effect.state == S.STUCK:
            course.people.append(reason_of(effect, step))
        return mode == "hold" or mode in STANDS
    if undoing is not None:
        return _follow(course, step, effect, undoing)
    if effect.state == S.STUCK and not (_can_undo(step) and (effect.world == "unknown" or effect.reason == UNDO_AGAIN)):
        course.people.append(reason_of(effect, step))
        return False
    if _can_undo(step):
        if free:
            course.compensate.append(effect)
        return False
    if effect.irreversible:
        return True
    detail = "it stands, and its tool declares no way to undo it"
    course.people.append(reason_of(effect, step, "no_compensation", detail))
    return False


def _left(course: Course, step: Any, effect: Any, undoing: Any) -> bool:
    """All that stands is left as it is: an undoing that has not left doesn't leave any more, and no fallback does."""
    if undoing.state == S.STUCK:
        course.people.append(reason_of(undoing, step))
        return False
    if undoing.state in (S.BLOCKED, S.READY) and not _under_way(undoing):
        (course.doubtful if undoing.doubt else course.cancel).append(undoing)
        return False
    return _follow(course, step, effect, undoing)


def _laid_to_rest(course: Course, step: Any, effect: Any, undoing: Any) -> bool:
    """An effect that was written off may have an undoing under way, or stuck with the scope in its hand; one that was
    undone may be there again."""
    if undoing.state == S.STUCK and undoing.reason == REVERSED and effect.state == S.UNDONE:
        course.reversed.append(effect)
    elif undoing.state == S.STUCK:
        course.people.append(reason_of(undoing, step))
    return bool(undoing.settled or undoing.at_rest)


def _in_hand(course: Course, step: Any, effect: Any) -> None:
    """What a person asked to be looked at stays theirs until the look has said something."""
    if looked_at_again(effect):
        course.people.append(reason_of(effect, step))


def asked_by_person(effect: Any) -> bool:
    """A remedy stays with the person who asked for it, and so with the case, until it is settled."""
    return bool(effect.remedy and effect.open)


def whose(effect: Any, step: Any) -> dict[str, Any]:
    """Why it is a person's: its own trouble, or that a remedy is on its way."""
    if effect.remedy and effect.state != S.STUCK and not looked_at_again(effect) and not for_a_person(effect):
        return {**reason_of(effect, step, REMEDY), "detail": ""}
    return reason_of(effect, step)


def looked_at_again(effect: Any) -> bool:
    return bool(effect.state == S.UNKNOWN and effect.reason == LOOKED_AT_AGAIN)


def _under_way(effect: Any) -> bool:
    """Somebody calls, or looks whether an earlier send took effect after all."""
    looked_for = effect.state == S.BLOCKED and effect.reason == "dependency" and effect.doubt
    if looked_for and effect.due_at is None:  # it waits for a step, and nobody looks
        return False
    return looked_for or effect.state in UNDER_WAY


def _can_undo(step: Any) -> bool:
    return step.tool.spec.get("compensate") is not None


def _follow(course: Course, step: Any, effect: Any, undoing: Any) -> bool:
    if undoing.settled and _told_of_since(effect, undoing):
        if effect.state == S.VERIFIED:
            course.reversed.append(effect)  # stuck again, so that a person can have it undone once more
        else:
            code = REVERSED if effect.reason == REVERSED else "late_answer"
            detail = effect.detail or "it was seen after its undoing was settled"
            course.people.append(reason_of(effect, step, code, detail))
        return False
    if undoing.settled:
        proved = undoing.state == S.VERIFIED and undoing.place == 0 and not partial(undoing)
        course.undone.append((effect, proved))
        return True
    if undoing.state == S.STUCK and undoing.reason in IMPOSSIBLE and (name := _fallback(step, undoing)):
        course.fall_back.append((effect, undoing, name))
    elif undoing.state == S.STUCK:
        course.people.append(reason_of(undoing, step))
    _in_hand(course, step, undoing)
    return bool(undoing.state == S.WRITTEN_OFF)


def _told_of_since(effect: Any, undoing: Any) -> bool:
    """Whether something was learnt of the effect after its undoing was settled: that proves nothing any more."""
    return bool(effect.changed_at > undoing.changed_at and effect.world not in ("nothing", "gone"))


def _fallback(step: Any, undoing: Any) -> str:
    names = step.tool.spec["compensate"].get("fallbacks") or []
    return str(names[undoing.place]) if undoing.place < len(names) else ""


def _hold(course: Course, run: Any, steps: list[Any], effects: list[Any]) -> None:
    if course.cancel or course.doubtful or any(_under_way(e) for e in effects):
        return
    stands = run.ending == "compensate"
    code = "irreversible_happened" if stands else "hold"
    failed = next((s for s in steps if s.state == StepState.FAILED), None)
    where = {"step": failed.name, "tool": failed.tool.name} if failed else {"step": "", "tool": ""}
    course.people.append({"code": code, "effect": None, **where, "detail": run.end_reason})

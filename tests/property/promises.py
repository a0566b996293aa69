"""The promises of DESIGN 2, as they can be checked after each step of a schedule. Raises `Broken`.

And 15: no call speaks of a thing by a name that it had before, or builds upon one that is gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tests.property.outside import Gate, Outside
from tests.property.seen import Seen, SeenEffect, SeenRun, at_the_call, seen
from workflows.models import Effect, Run
from workflows.policies import order
from workflows.proof import Flaw, verify
from workflows.replay.check import check
from workflows.states import EffectState, Phase
from workflows.tools.expressions import fill

KEY = 26  # characters of an effect's key: who adds to it makes another
OUT_OF_IT = ("failed", "cancelled", "undone", "written_off")


class Broken(AssertionError):
    """A promise was not kept."""


def require(kept: object, promise: str) -> None:
    if not kept:
        raise Broken(promise)


def at_the_wire(outside: Outside, gates: Iterable[Gate], stopped: set[str]) -> None:
    """Of calls that have just begun. `stopped`: ids of runs that were turning back before."""
    for gate in gates:
        call = at_the_call(gate.call.key[:KEY], gate.call.attempt)
        require(call.intended, "1: intent before act")
        require(call.verdicts >= call.attempts, "5: policy at the door, for every attempt")
        require(call.spent or not call.asked, "6: an approval is spent by the first dispatch")
        require(not call.acknowledged, "3: what was acknowledged is never sent again")
        if call.kind == "forward":
            require(call.run_id not in stopped, "13: nothing new of a run that turns back")
        if call.kind == "forward":
            _named(_effect(call.id))
        if call.kind == "forward" and call.effect_class == "irreversible":
            _gated(_effect(call.id))
        elif call.kind != "forward" and call.undoes:
            _in_order(_effect(call.id))
        require(not call.beside, "12: two are in flight on one scope")


def _effect(effect_id: str) -> Effect:
    found: Effect = Effect.objects.select_related("run", "step").get(id=effect_id)
    return found


def _named(effect: Effect) -> None:
    """What it speaks of is called so now, as the settled effects of its run say (docs/decisions/0103)."""
    others = Effect.objects.filter(run=effect.run, kind="forward").select_related("step").order_by("generation")
    above = order.ancestors(list(effect.run.steps.all()))[effect.step.name]
    gone = [e.step.name for e in others if e.step.name in above and (e.state, e.reason) == ("stuck", "gone")]
    require(not gone, f"15: it builds upon {gone}, which is gone as far as anybody knows")
    results = {e.step.name: {"result": e.result} for e in others if e.settled}
    wanted = fill(effect.step.template, {"steps": results})
    require(effect.arguments == wanted, f"15: it speaks of {effect.arguments}, by now it is {wanted}")


def _gated(effect: Effect) -> None:
    steps = list(effect.run.steps.all())
    before = BEFORE(effect.step, steps)
    others = {e.step.name: e for e in Effect.objects.filter(run=effect.run, kind="forward").select_related("step")}
    unsettled = [n for n in before if n not in others or not others[n].settled]
    require(not unsettled, f"13: gated, and {unsettled} are not settled")


def _in_order(effect: Effect) -> None:
    """An undoing goes when nothing that stands depends on what it undoes."""
    steps = list(effect.run.steps.all())
    below = BELOW(steps)[effect.step.name]
    forward = Effect.objects.filter(run=effect.run, kind="forward", step__name__in=below).select_related("step")
    stands = [e.step.name for e in forward if e.state not in OUT_OF_IT and not e.irreversible]
    require(not stands, f"8: {effect.step.name} is undone while {stands} stand on it")


BELOW, BEFORE = order.dependants, order.before  # as they are before a test takes them away


def always(outside: Outside, beyond: set[str]) -> Seen:
    """After each step; returns what there was. `beyond`: keys of calls that went on for longer than their tool says is
    possible."""
    twice = [key for key, number in Counter(key[:KEY] for key in outside.made).items() if number > 1]
    require(not twice, f"2: {len(twice)} were made twice")
    now = seen()
    for run in now.runs:
        require((run.id in now.cases) == run.needs_person, "9: one open case per stuck run, in the same commit")
        if run.phase == Phase.OVER:
            _stated(outside, run, [effect for effect in now.effects if effect.run_id == run.id], beyond)
    by_effect: dict[str, list[SeenEffect]] = {}
    for effect in now.effects:
        by_effect.setdefault(effect.compensates_id or effect.id, []).append(effect)
    for effects in by_effect.values():
        true_to(outside, effects, beyond)
    _within_budget(outside, now.limits)
    return now


def true_to(outside: Outside, effects: list[SeenEffect], beyond: set[str]) -> None:
    """`world` of an effect is what is there; while an undoing may have done something, only its own proof counts."""
    forward = next(effect for effect in effects if not effect.compensates_id)
    undoings = [effect for effect in effects if effect.compensates_id]
    if forward.key in beyond:
        return
    there = outside.there(forward.key)
    told = f"{forward.state} {forward.world}, and it is {'there' if there else 'not there'}"
    if forward.world == "gone":
        require(not there, f"4: {told}")
    elif any(undoing.world != "nothing" for undoing in undoings):
        return
    elif forward.world == "nothing" and forward.state != "stuck":
        require(not there, f"3: {told}")
    elif forward.world == "present":
        require(there, f"4: {told}")


def _stated(outside: Outside, run: SeenRun, effects: Iterable[SeenEffect], beyond: set[str]) -> None:
    """What stands after a run that didn't reach its goal is stated."""
    told = {row["effect"] for row in run.residue}
    went_well = run.state == "completed" or (run.state == "repaired" and not run.end_cause)
    for effect in effects:
        if effect.compensates_id or effect.effect_class == "read_only":
            continue
        wanted = (went_well and effect.state == "verified") or run.state == "completed"
        if outside.there(effect.key) and not wanted and effect.key not in beyond:
            require(effect.id in told, f"8: {effect} stands and is not stated, its run is {run.state}")


def _within_budget(outside: Outside, limits: Iterable[dict[str, int]]) -> None:
    made = len({key[:KEY] for key in outside.made})
    for limited in limits:
        limit = limited.get("effects")
        require(limit is None or made <= limit, f"11: {made} effects of {limit}")


def at_the_end(outside: Outside, beyond: set[str]) -> None:
    """Nothing hangs, and the journal tells the same story."""
    always(outside, beyond)
    for run in Run.objects.all():
        require(run.phase == Phase.OVER or run.needs_person or _waits(run), f"9: it hangs, {run.state}")
        _, flaws = check(run.id)
        require(not flaws, f"10: the journal tells another story: {flaws}")
    flaws_: list[Flaw] = []
    verify(flaws_.append)
    require(not flaws_, f"10: the chains are broken: {flaws_}")


def _waits(run: Run) -> bool:
    """It says for which effect it waits, and that one's run needs a person."""
    blocked = Effect.objects.filter(run=run, state=EffectState.BLOCKED.value, reason="order")
    holders = [by["effect"] for effect in blocked for by in effect.blocked_by]
    return Effect.objects.filter(id__in=holders, run__needs_person=True).exists()

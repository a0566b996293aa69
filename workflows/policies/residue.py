"""What remains in the world that the outcome doesn't want. Pure; reads `world`, never `state`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workflows.states import EffectState, Kind, World

NOT_THERE = ("nothing", "gone")


def residue_of(run_state: str, effects: Iterable[Any], *, turned: bool = True) -> list[dict[str, Any]]:
    """`effects`: all of a run. In one that was completed, or repaired without having `turned` back, what isn't
    verified; in any other what isn't proved to be away; and what undoing itself left behind."""
    effects = list(effects)
    undoing = {e.compensates_id: e for e in effects if e.compensates_id and e.state != "cancelled"}
    good = made_good(effects)
    newest = {e.step_id: e.id for e in effects if e.kind == Kind.FORWARD and e.world not in NOT_THERE}
    reached = run_state == "completed" or (run_state == "repaired" and not turned)
    rows = []
    for effect in effects:
        if effect.compensates_id or effect.read_only or effect.met:
            continue
        # Its step was begun anew, and that stands as well: nobody wanted two.
        extra = effect.kind == Kind.FORWARD and newest.get(effect.step_id, effect.id) != effect.id
        if statement := _statement(effect, reached and not extra, undoing.get(effect.id)):
            rows.append(row(effect, statement + good.get(effect.id, "")))
    return rows


def made_good(effects: Iterable[Any]) -> dict[Any, str]:
    """By the effect that was made good: what is to be said of that beside what it left."""
    found: dict[Any, str] = {}
    for effect in effects:
        if effect.makes_good_id and effect.settled:
            how = "which a look showed" if effect.state == EffectState.VERIFIED else "by the provider's word"
            said = f" Made good, {how}: {effect.residue or 'by another act.'}"
            found[effect.makes_good_id] = found.get(effect.makes_good_id, "") + said
    return found


def _statement(effect: Any, reached: bool, undoing: Any) -> str:
    stands = effect.residue or "What this act left behind stands."
    if reached:
        return stands if effect.state != "verified" and effect.world not in NOT_THERE else ""
    if effect.state == EffectState.UNDONE and partial(undoing):
        return f"{stands} Only a part of it could be undone."
    if effect.world not in NOT_THERE:
        return stands
    if effect.state == "undone" and undoing is not None:
        return str(undoing.residue)
    return ""


def left_by(effect: Any, undoing: Any, good: str = "") -> str:
    """What one effect leaves outside as far as it is known; "" where nothing of it is there. An undoing that was proved
    leaves its own trace in place of what it undid. `good`: of `made_good`."""
    if effect.read_only or effect.met or effect.world == World.NOTHING:
        return ""
    if effect.world == World.GONE:
        return str(undoing.residue) if effect.state == EffectState.UNDONE and undoing is not None else ""
    return f"{effect.residue}{good}".strip()


def partial(undoing: Any) -> bool:
    """Whether the provider said yes to a part only."""
    return undoing is not None and bool((undoing.result or {}).get("partial"))


def row(effect: Any, statement: str) -> dict[str, Any]:
    return {
        "effect": str(effect.id),
        "world": effect.world,
        "statement": statement,
        "owner": effect.owner,
        "customer_visible": effect.customer_visible,
        "value": effect.value,
    }

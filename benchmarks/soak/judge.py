"""Compares what the provider knows with what the ledger says, effect by effect, and counts what must never be."""

from __future__ import annotations

import dataclasses
from collections import Counter, defaultdict
from typing import Any

from benchmarks.soak.plan import FINAL
from repairs.models import Case
from workflows.models import Effect, Entry, Run
from workflows.proof import Flaw, verify

UNLIKELY = 0.05  # the chance that is left beside a bound of 95 %


@dataclasses.dataclass(slots=True)
class Verdict:
    """`troubles`: each disagreement in words."""

    runs: Counter[str]
    effects: int
    sends: int
    clean: int
    final: int
    duplicates: int = 0
    leaks: int = 0
    undeclared: int = 0
    unowned: int = 0
    disagree: int = 0
    flaws: int = 0
    troubles: list[str] = dataclasses.field(default_factory=list)

    @property
    def kept(self) -> bool:
        return not (self.duplicates or self.leaks or self.undeclared or self.unowned or self.disagree or self.flaws)


def judge(oracle: dict[str, Any]) -> Verdict:
    there, ever = _by_key(oracle["objects"]), _by_key([*oracle["objects"], *oracle["deleted"]])
    runs = {run.id: run for run in Run.objects.defer("input")}
    effects = list(Effect.objects.select_related("tool").order_by("id"))
    verdict = Verdict(
        runs=Counter(run.state for run in runs.values()),
        effects=len(effects),
        sends=sum(effect.attempts for effect in effects),
        clean=sum(1 for run in runs.values() if run.is_clean),
        final=sum(1 for effect in effects if effect.irreversible),
    )
    owned = set(Case.objects.filter(state__in=["open", "waiting"]).exclude(owner="").values_list("run_id", flat=True))
    undoing = {effect.compensates_id: effect for effect in effects if effect.compensates_id}
    for effect in effects:
        if effect.forward:
            _one(effect, undoing.get(effect.id), runs[effect.run_id], len(there[effect.key]), verdict)
            if len(ever[effect.key]) > 1:
                verdict.duplicates += 1
                verdict.troubles.append(f"{effect.key} was made {len(ever[effect.key])} times")
        if effect.world == "unknown" and not effect.at_rest and effect.run_id not in owned:
            verdict.unowned += 1
            verdict.troubles.append(f"{effect.key} is {effect.state} unknown, and nobody has it")
    keys = {effect.key for effect in effects}
    for stranger in set(ever) - keys:
        verdict.disagree += 1
        verdict.troubles.append(f"{stranger} is in the world and in no ledger")
    verdict.leaks = _leaks(effects, ever, verdict)
    flaws: list[Flaw] = []
    verify(flaws.append)
    verdict.flaws = len(flaws)
    return verdict


def _by_key(things: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for thing in things:
        found[thing["reference"]].append(thing)
    return found


def _one(effect: Effect, undoing: Effect | None, run: Run, there: int, verdict: Verdict) -> None:
    said = {"present": there == 1, "gone": there == 0, "nothing": there == 0, "several": there > 1}
    unsure = undoing is not None and undoing.world == "unknown"  # then only its own proof counts
    if not said.get(effect.world, True) and not unsure:
        verdict.disagree += 1
        verdict.troubles.append(f"{effect.key} is {effect.state} {effect.world}, and {there} of it stand")
    stated = {row["effect"] for row in run.residue}
    if run.phase == "over" and run.state != "completed" and there and str(effect.id) not in stated:
        verdict.undeclared += 1
        verdict.troubles.append(f"{effect.key} stands after run {run.id} ({run.state}) and is not stated")


def _leaks(effects: list[Effect], ever: dict[str, Any], verdict: Verdict) -> int:
    """What can't be undone and left before all before it was settled, by the journal's order."""
    final = {e.run_id: e for e in effects if e.irreversible and ever[e.key]}
    before = {e.id: e for e in effects if e.forward and not e.irreversible and e.run_id in final}
    sent: dict[Any, Any] = {}
    settled: dict[Any, list[Any]] = defaultdict(list)
    wanted = [e.id for e in final.values()] + list(before)
    told = Entry.objects.filter(subject_id__in=wanted, event__in=["dispatch", "verify", "adopt", "find"])
    for entry in told.order_by("id"):
        if entry.subject_id in before:
            if entry.event != "dispatch":
                settled[entry.run_id].append(entry.id)
        elif entry.event == "dispatch":
            sent.setdefault(entry.run_id, entry.id)
    number = Counter(effect.run_id for effect in before.values())
    leaks = 0
    for run_id, effect in final.items():
        if sum(1 for at in settled[run_id] if at < sent[run_id]) < number[run_id]:
            leaks += 1
            verdict.troubles.append(f"{effect.key} ({FINAL}) left before all before it was settled")
    return leaks


def bound(count: int, of: int) -> str:
    """A count, and for a zero how much could hide behind it: the share that would show itself in 95 of 100 soaks."""
    if count or not of:
        return f"{count} of {of}"
    return f"0 of {of} (below {100 * (1 - UNLIKELY ** (1 / of)):.3f} % with 95 % confidence)"

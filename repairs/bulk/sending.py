"""What an act that sends would send for each of many cases: the previews of their own pages, in few statements."""

from __future__ import annotations

import dataclasses
import datetime as dt
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from django.db.models import Count

from repairs import preview, reading
from repairs.models import Case
from repairs.models.act import ActKind
from repairs.preview import Facts, Preview
from repairs.words.facts import EffectFacts
from repairs.words.offers import offers, why_not
from workflows.models import Effect, Run, Step
from workflows.states import Phase
from workflows.toolbox import give_tools

LARGE = 30  # effects of a run: what undoes more than that is read on a page of its own
REQUESTS = 10  # of one case, all of them shown in its line


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """Of one case. `offered`: of how many effects (or of the run) its page offers the act now; `why_not` where of none.
    `preview` where of one."""

    offered: int = 0
    why_not: str = ""
    large: bool = False
    effect: Effect | None = None
    preview: Preview | None = None
    requests: int = 0

    @property
    def digest(self) -> str:
        return self.preview.digest if self.preview else ""

    @property
    def flawed(self) -> bool:
        return self.preview is not None and any(draft.flaw for p in self.preview.sends for draft in p.drafts)


def sendings(act: ActKind, cases: Iterable[Case], *, at: dt.datetime, now: dt.datetime) -> dict[uuid.UUID, Sending]:
    """By case. `at`: the moment for which requests are made, that of the choice. Their runs and workflows must be at
    hand. Five statements, however many they are; a run that is too long is not read."""
    live = [case for case in cases if case.live]
    counts = Effect.objects.filter(run__in=[case.run_id for case in live]).order_by().values_list("run")
    long = {run_id for run_id, number in counts.annotate(number=Count("id")) if number > LARGE}
    read = facts_of([case.run for case in live if case.run_id not in long])
    found = {case.id: Sending(large=True) for case in live if case.run_id in long}
    for case in live:
        if case.run_id in read:
            facts, effects = read[case.run_id]
            found[case.id] = sending(act, case, facts, effects, at=at, now=now)
    return found


def sending(
    act: ActKind, case: Case, facts: Facts, effects: Sequence[EffectFacts], *, at: dt.datetime, now: dt.datetime
) -> Sending:
    reasons = reading.reasons_of(case.run)
    going_on = case.run.phase in (Phase.OPEN, Phase.RUNNING)
    offered = [
        effect for kind, effect in offers(effects, reasons, live=True, going_on=going_on, now=now) if kind == act
    ]
    if len(offered) != 1:
        return Sending(offered=len(offered), why_not=why_not(act, effects, reasons, now=now))
    effect = next((one for one in facts.effects if str(one.id) == offered[0]), None)
    made = preview.of_act(act, facts, effect.id if effect else None, at)
    drafts = [draft for planned in made.sends for draft in planned.drafts]
    return Sending(offered=1, effect=effect, preview=made, requests=len(drafts), large=len(drafts) > REQUESTS)


def facts_of(runs: Sequence[Run]) -> Mapping[uuid.UUID, tuple[Facts, list[EffectFacts]]]:
    """As `preview.facts_of` and the case's page read one, of many. Three statements, and one for tools not met yet."""
    ids = [run.id for run in runs]
    effects = reading.effects_of(ids)
    sends = reading.last_sends(effect.id for of_run in effects.values() for effect in of_run)
    steps: dict[uuid.UUID, list[Step]] = defaultdict(list)
    all_steps = list(Step.objects.filter(run__in=ids).order_by("run_id", "ordinal"))
    give_tools(all_steps)
    for step in all_steps:
        steps[step.run_id].append(step)
    found = {}
    for run in runs:
        own = effects.get(run.id, [])
        for effect in own:
            effect.run = run
        less = {e.id: sends[e.id] for e in own if e.reason == "less_remains" and e.id in sends}
        facts = Facts(run=run, steps=steps[run.id], effects=own, left=preview.left_of(less))
        found[run.id] = (facts, reading.facts_of(run, own, sends=sends))
    return found

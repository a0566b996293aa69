"""Keeps each run's case true to the run, inside the transaction that changed the run. Called by `repairs.receivers`.

Rows are locked in the order runs (by the caller), then cases.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence

from repairs import reading
from repairs.models import Act, Case
from repairs.models.act import ActKind, Outcome
from repairs.notices import telling
from repairs.words.again import LONGEST, why_again
from repairs.words.cause import signature
from repairs.words.harm import Weight, weigh
from repairs.words.limits import HURTS
from repairs.words.sentence import find, harm_rank, sentence
from workflows import journal, rows
from workflows.models import Effect, Run
from workflows.states import CaseState, EffectState, Phase
from workflows.visible import visible

COLUMNS = (
    "state", "sentence", "reasons", "harm", "rank", "rank_reason", "customers", "value", "owner", "deadline", "cutoff",
    "cutoff_reason", "signature", "found_by", "claimed_by", "lease_until", "opened_at", "changed_at", "closed_at",
    "reopened", "snoozed_until", "snooze_cause", "paused_since", "paused", "hurts_at", "escalated_to", "escalated_by",
    "time_told", "handed_to", "reopened_why", "seq", "head",
)  # fmt: skip
SAID = (
    "sentence", "reasons", "harm", "rank", "rank_reason", "customers", "value", "owner", "cutoff", "cutoff_reason",
    "signature", "found_by",
)  # fmt: skip


def follow(runs: Sequence[Run]) -> None:
    """Makes the cases of these runs say what the runs say now.

    1. A run that needs a person and has no case gets one; a closed one is opened again.
    2. A live case whose words have changed is told so.
    3. A live case of a run that needs nobody is closed: written off if an effect was, else resolved.
    4. What a proposal spoke of may have changed: then the case waits for nobody any more. A snoozed one wakes.
    """
    now = rows.now()
    known = lock([run.id for run in runs])
    concerned = [run for run in runs if run.needs_person or (run.id in known and known[run.id].live)]
    effects = reading.effects_of([run.id for run in concerned])
    owners = teams([run for run in concerned if run.needs_person])
    waiting = open_proposals([case for case in known.values() if case.state == CaseState.WAITING])
    new: list[Case] = []
    for run in concerned:
        case = known.get(run.id)
        if case is None:
            case = Case(run=run, agent_id=run.agent_id)
            case.event = "open"
            new.append(case)
            known[run.id] = case
        move(case, run, effects.get(run.id, []), owners.get(run.id, ""), waiting.get(case.id, []), now)
    write(new, [known[run.id] for run in concerned if known[run.id].event], now)


def lock(run_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, Case]:
    """The last case of each run, locked in the order of their ids."""
    return {case.run_id: case for case in Case.objects.filter(run__in=run_ids).order_by("id").select_for_update()}


def teams(runs: Sequence[Run]) -> dict[uuid.UUID, str]:
    """Who owns a run where no effect says so: its workflow's owner, else its agent's team."""
    found = Run.objects.filter(id__in=[run.id for run in runs]).values_list("id", "workflow__owner", "agent__team")
    return {run_id: owner or team for run_id, owner, team in found} if runs else {}


def open_proposals(cases: Sequence[Case]) -> dict[uuid.UUID, list[Act]]:
    """Proposals that nobody has answered, by case."""
    found: dict[uuid.UUID, list[Act]] = {}
    if cases:
        for act in Act.objects.filter(case__in=cases, **UNANSWERED).select_related("by").order_by("id"):
            found.setdefault(act.case_id, []).append(act)
    return found


UNANSWERED = {
    "kind": ActKind.PROPOSE_WRITE_OFF.value,
    "outcome": Outcome.PROPOSED.value,
    "answer__isnull": True,
}


def still_true(proposal: Act, run: Run, effects: Sequence[Effect]) -> bool:
    """Whether all is as the proposer saw it; a second person confirms nothing else."""
    if proposal.effect_id is None:
        return bool(run.seq == proposal.facts.get("seq"))
    effect = next((e for e in effects if e.id == proposal.effect_id), None)
    return effect is not None and effect.state == EffectState.STUCK and effect.seq == proposal.facts.get("seq")


def move(
    case: Case, run: Run, effects: Sequence[Effect], team: str, proposals: Sequence[Act], now: dt.datetime
) -> None:
    if not run.needs_person:
        close(case, run, effects, now)
        return
    before = [getattr(case, name) for name in SAID]
    weight = say(case, run, effects, team, now)
    due = min(now + weight.allowance, case.cutoff or dt.datetime.max.replace(tzinfo=dt.UTC))
    if case.event == "open":
        case.opened_at = now
        case.deadline = due
    elif not case.live:
        case.reopen(at=now)
        case.reopened_why = visible(why_again(reading.reasons_of(run), reading.facts_of(run, effects)))[:LONGEST]
        case.deadline = due
    else:
        case.deadline = min(case.deadline, due)  # what got worse is due sooner; what got better keeps its promise
    if case.event:
        return
    changed = before != [getattr(case, name) for name in SAID]
    asked = any(still_true(p, run, effects) for p in proposals)
    if case.state == CaseState.WAITING and not asked and (changed or not case.snoozed_at(now)):
        case.proceed(at=now)
    elif changed:
        case.event = "update"


def close(case: Case, run: Run, effects: Sequence[Effect], now: dt.datetime) -> None:
    if run.ending == "written_off" or any(effect.state == EffectState.WRITTEN_OFF for effect in effects):
        case.write_off(at=now)
    else:
        case.resolve(at=now)


def say(case: Case, run: Run, effects: Sequence[Effect], team: str, now: dt.datetime) -> Weight:
    """Fills in what the case says; who holds it stays."""
    facts = reading.facts_of(run, effects, windows=True)
    reasons = reading.reasons_of(run)
    weight = weigh(reasons, facts, now=now)
    lead = min(reasons, key=lambda r: harm_rank(find(r, facts), r), default=None)
    item = find(lead, facts) if lead else None
    case.sentence = sentence(reading.subject_of(run), reasons, facts, over=run.phase == Phase.OVER)
    case.reasons = run.people_reasons
    case.harm, case.rank, case.rank_reason = weight.harm.value, weight.rank, weight.reason
    case.customers, case.value = weight.customers, weight.value
    case.cutoff, case.cutoff_reason = cutoff_of(case, weight, now)
    case.owner = (item.owner if item else "") or team or "operations"
    case.signature = signature(lead, item, versions_of(effects).get(item.id) if item else None)
    case.found_by = names_of(run, effects)
    case.payload = {"sentence": case.sentence, "reasons": case.reasons, "rank": case.rank, "why": case.rank_reason}
    return weight


def cutoff_of(case: Case, weight: Weight, now: dt.datetime) -> tuple[dt.datetime | None, str]:
    """The nearest moment ahead: what the engine knows of, or when it hurts the customer as a person said."""
    if case.hurts_at and case.hurts_at > now and (weight.cutoff is None or case.hurts_at < weight.cutoff):
        return case.hurts_at, HURTS
    return weight.cutoff, weight.cutoff_reason


def versions_of(effects: Sequence[Effect]) -> dict[str, int]:
    return {str(effect.id): effect.tool.version for effect in effects}


NAMES_KEPT = 8000  # characters: a run of many steps is found by its first ones


def names_of(run: Run, effects: Sequence[Effect]) -> str:
    """What a customer, an agent or a provider calls this run and its effects; one name a line, in lower case."""
    names = [run.subject_label, run.subject_id, run.external_id, str(run.id)]
    names += [name for effect in effects for name in (effect.external_ref, effect.key) if name]
    return "\n".join(dict.fromkeys(filter(None, names))).lower()[:NAMES_KEPT]


def write(new: Sequence[Case], moved: Sequence[Case], now: dt.datetime, actor: str = "engine") -> None:
    """Writes cases and their journal entries in a constant number of statements."""
    made = journal.chain([event_of(case, actor) for case in moved], at=now)
    for case in moved:
        case.changed_at = now
    Case.objects.bulk_create(new)
    old = [case for case in moved if case not in new]
    if old:
        Case.objects.bulk_update(old, COLUMNS)
    journal.write(made)
    telling.of_cases([case for case in moved if case.event in ("open", "reopen")], now)
    for case in moved:
        case.event, case.payload, case.was_state = "", None, case.state


def event_of(case: Case, actor: str) -> journal.Event:
    return journal.Event(
        subject=case,
        kind="case",
        run_id=case.run_id,
        event=case.event,
        before=case.was_state,
        after=case.state,
        fence=case.fence,
        actor=actor,
        payload=case.payload,
    )

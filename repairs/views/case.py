"""One case: what is true outside, the next safe act, the unsafe ones with their reasons, and all that was done."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from repairs import cases, reading
from repairs.asked import OF_ITS_RUN, of_its_run
from repairs.beside import acts_of, beside
from repairs.by_when import by_when
from repairs.case_history import EVENTS, events, history
from repairs.desk import Desk
from repairs.models import Act, Case
from repairs.models.act import ActKind
from repairs.preview_shown import IN_PLACE, Asked, in_place, of_lines
from repairs.radius import radius
from repairs.scope import one, visible
from repairs.views import hands
from repairs.views.queue import holder_of
from repairs.views.screen import at_desk, screen, show
from repairs.words.advice import Advice, next_safe_act, unsafe_acts, why_open
from repairs.words.checks import checks
from repairs.words.facts import EffectFacts, Standing, standing, wanted_gone
from repairs.words.possible import of_the_run, possible
from repairs.words.seen import Row, row
from repairs.worked import MEASURED, measured
from workflows.engine import findings, resume
from workflows.engine.remedy import may_call_off
from workflows.models import Effect
from workflows.states import EffectState, Phase, World


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """An effect in the case's table. `item`: it needs a person; `wrong`: what is outside isn't what was wanted."""

    effect: Effect
    fact: EffectFacts
    row: Row
    item: bool
    wrong: bool
    said: str  # the manifest's sentence of what stands, where it stands or may
    unsafe: list[Advice]
    possible: list[tuple[str, str, str]]  # (act, its name, what it does)
    makes_good: str  # of a remedy: the step of what it makes good
    called_off: bool  # a remedy of which nothing has left: it can be
    names: list[str]  # what a finding has to tell: the provider's names for the thing


@screen
def case_page(request: HttpRequest, number: int) -> HttpResponse:
    return show_case(request, find(request, number))


def find(request: HttpRequest, number: int) -> Case:
    cases = visible(at_desk(request), Case).select_related(
        "run__agent", "run__workflow", "claimed_by", "escalated_by", "handed_to"
    )
    return one(cases.annotate(**{MEASURED: measured(), OF_ITS_RUN: of_its_run(), EVENTS: events()}), number=number)


def show_case(request: HttpRequest, case: Case, *, status: int = 200, **context: Any) -> HttpResponse:
    """The page of a case. `error`, `kept` (the reason) and `typed` (the whole form) come from an act that was refused:
    nothing a person typed is lost."""
    now, desk = timezone.now(), at_desk(request)
    lines = lines_of(case, now)
    facts = [line.fact for line in lines]
    reasons = reading.reasons_of(case.run) if case.live else []
    acts = acts_of(case)
    proposals = open_proposals(case, acts, lines)
    proposed = {proposal.effect_id for proposal, true in proposals if true}
    next_act = next_safe_act(facts, reasons) if case.live else None
    leave = [line for line in lines if line.fact.stuck and line.effect.id not in proposed]
    leave_run = decides_run(case, lines) and None not in proposed
    holder, mine = holder_of(case, now), case.holder_at(now) == desk.user.pk
    may_act = desk.may_repair and (mine or not holder)
    of_run = possible_of(case, lines)
    asked = [*to_confirm(proposals, desk)]
    if may_act:
        asked += [*of_lines(lines, next_act), *left(leave, run=leave_run), *((act, "") for act, _, _ in of_run)]
    return show(
        request,
        "console/case.html",
        here="queue",
        status=status,
        now=now,
        case=case,
        run=case.run,
        subject=reading.subject_of(case.run),
        lines=lines,
        next_act=next_act,
        unsafe=[line for line in lines if line.unsafe],
        not_closed=why_open(facts, reasons) if case.live else None,
        moments=by_when(case, facts, reasons, now),
        checks=checks(facts, now) if case.live else [],
        touched={fact.tool for fact in facts},
        radius=radius(desk, case),
        proposals=proposals,
        may_act=may_act,
        previews=in_place(case, lines, asked, now, desk.user),
        may_ask=[line for line in lines if line.possible],
        leave=leave,
        leave_run=leave_run,
        of_run=of_run,
        history=history(case, acts),
        **beside(case, acts, facts),
        holder=holder,
        mine=mine,
        alone=desk.alone,
        asked=match.kwargs.get("act_id") if (match := request.resolver_match) else None,
        acted=match.url_name if (match := request.resolver_match) else "",
        **hands.context(case, desk, acts, lines),
        **{"error": "", "kept": "", "typed": {}, **context},
    )


def lines_of(case: Case, now: dt.datetime) -> list[Line]:
    effects = reading.effects_of([case.run_id])[case.run_id]
    ids = [effect.id for effect in effects]
    facts = reading.facts_of(case.run, effects, reading.last_looks(ids), reading.last_sends(ids), windows=True)
    named = {reason.effect for reason in reading.reasons_of(case.run)} if case.live else set()
    going_on = case.live and case.run.phase in (Phase.OPEN, Phase.RUNNING)
    lines = [line_of(e, fact, named, now, going_on=going_on) for e, fact in zip(effects, facts, strict=True)]
    urgent = {line.effect.step_id for line in lines if line.item}
    return sorted(lines, key=lambda line: line.effect.step_id not in urgent)  # an undoing stays with what it undoes


def line_of(effect: Effect, fact: EffectFacts, named: set[str], now: dt.datetime, *, going_on: bool) -> Line:
    return Line(
        effect=effect,
        fact=fact,
        row=row(fact),
        item=fact.id in named or fact.stuck,
        wrong=is_wrong(fact),
        said="" if fact.undoing or standing(fact) is Standing.ABSENT else fact.statement,
        unsafe=unsafe_acts(fact, now=now),
        possible=possible(fact, now=now, going_on=going_on),
        makes_good=effect.makes_good.step.name if effect.makes_good else "",
        called_off=may_call_off(effect),
        names=sorted(findings.needed(effect)) if fact.stuck and effect.forward else [],
    )


def decides_run(case: Case, lines: Sequence[Line]) -> bool:
    """Whether what is to be decided is the run, as no effect of it is stuck."""
    return case.live and case.run.phase == Phase.UNWINDING and not any(line.fact.stuck for line in lines)


def possible_of(case: Case, lines: Sequence[Line]) -> list[tuple[str, str, str]]:
    """What may be asked about the run as a whole: (act, its name, what it does)."""
    if not case.live:
        return []
    forward = case.run.phase in (Phase.OPEN, Phase.RUNNING)
    return of_the_run(forward=forward, held=not resume.why_not(case.run, [line.effect for line in lines]))


def is_wrong(fact: EffectFacts) -> bool:
    if fact.read_only or (
        fact.remedy and fact.state in (EffectState.BLOCKED, EffectState.READY, EffectState.CANCELLED)
    ):
        return False
    if fact.stand_in:
        return fact.world != World.PRESENT
    good = Standing.ABSENT if wanted_gone(fact) else Standing.STANDS
    return standing(fact) is not good


def open_proposals(case: Case, acts: Sequence[Act], lines: Sequence[Line]) -> list[tuple[Act, bool]]:
    """Proposals that nobody answered, each with whether all is still as its proposer saw it."""
    answered = {act.answers_id for act in acts}
    effects = [line.effect for line in lines]
    asked = [a for a in acts if a.kind == ActKind.PROPOSE_WRITE_OFF and a.id not in answered]
    return [(act, cases.still_true(act, case.run, effects)) for act in asked] if case.live else []


def to_confirm(proposals: Sequence[tuple[Act, bool]], desk: Desk) -> Asked:
    """What somebody else proposed and this person may confirm: they see what the run does then, whoever holds the
    case."""
    mine = [act for act, true in proposals if true and desk.may_approve and act.by_id != desk.user.pk]
    return [(ActKind.WRITE_OFF.value, str(act.effect_id or "")) for act in mine]


def left(lines: Sequence[Line], *, run: bool) -> Asked:
    """What can be left as it is; `run`: the run too."""
    of_effects = [(ActKind.WRITE_OFF.value, line.fact.id) for line in lines[:IN_PLACE]]
    return [*of_effects, (ActKind.WRITE_OFF.value, "")] if run else of_effects

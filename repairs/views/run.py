"""One run: its plan, its effects and steps as a table, what going on would do, what was not done twice, its residue."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.http import content_disposition_header

from repairs import graph, reading, run_rows
from repairs.chains import Chain, chains
from repairs.models import Case
from repairs.views.run_head import find, head
from repairs.views.screen import screen, show
from repairs.words import once, resume
from repairs.words.facts import EffectFacts
from repairs.words.seen import Row, row
from workflows.api import wire
from workflows.models import Effect, Run, Step
from workflows.policies.unwinding import course_of
from workflows.reading import run_in_full
from workflows.states import Phase

FIRST, LAST = 200, 50  # lines of the table shown at once, and of its end
SAID = 50  # residue, cases and lists of what would be done: more are counted, not named


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """A line of the ledger: a step, with its effect where it has one."""

    step: Step
    effect: Effect | None = None
    fact: EffectFacts | None = None
    row: Row | None = None
    chain: Chain | None = None


@screen
def run_page(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """`?from=` the number of the line with which the table begins."""
    return show_run(request, find(request, run_id))


def show_run(request: HttpRequest, run: Run, *, status: int = 200, **context: Any) -> HttpResponse:
    """`error` and `kept` (the reason) come from an act that was refused."""
    steps, effects = run_rows.rows_of(run)
    ledger = part(lines_of(steps, effects), beginning(request))
    shown = [line.effect for line in [*ledger.lines, *ledger.tail] if line.effect]
    ids, sends = [effect.id for effect in shown], run_rows.last_sends(run)
    facts = reading.facts_of(run, effects, run_rows.last_looks(ids), sends)
    ledger = ledger.told(Known({fact.id: fact for fact in facts}, chains(shown)))
    cases = list(Case.objects.filter(run=run).order_by("-number").only("number", "state", "sentence")[:SAID])
    irreversible = {s.name for s in steps if s.tool.profile.get("effect_class") == "irreversible"}
    return show(
        request,
        "console/run.html",
        here="runs",
        status=status,
        **head(run, "plan", moves=sum(effect.seq for effect in effects)),
        ledger=ledger,
        graph=graph.draw(steps, effects, irreversible),
        cases=cases,
        live_case=next((case for case in cases if case.live), None),
        closed_case=next((case for case in cases if not case.live), None),
        residue=run.residue[:SAID],
        going_on=going_on(run, steps, effects, facts),
        prevented=once.prevented(facts, {str(key): send for key, send in sends.items()}),
        promised=once.promised(facts),
        said=SAID,
        **{"error": None, "kept": "", **context},
    )


def lines_of(steps: Sequence[Step], effects: Sequence[Effect]) -> list[Line]:
    """Steps in their order, each with its effects in theirs; a step without one stands alone."""
    own: dict[uuid.UUID, list[Effect]] = {}
    for effect in effects:
        own.setdefault(effect.step_id, []).append(effect)
    return [line for step in steps for line in ([Line(step, e) for e in own.get(step.id, [])] or [Line(step)])]


@dataclasses.dataclass(frozen=True, slots=True)
class Known:
    """What is known of each effect; chains are read for the lines shown only."""

    facts: dict[str, EffectFacts]
    chains: dict[uuid.UUID, Chain]


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """Some lines of a table, then how many are left out, then its last ones. `next`: the number of the line after."""

    lines: list[Line]
    tail: list[Line]
    between: int
    next: int
    first: bool

    def told(self, known: Known) -> Part:
        return dataclasses.replace(
            self, lines=[told(one, known) for one in self.lines], tail=[told(one, known) for one in self.tail]
        )


def part(lines: list[Line], start: int) -> Part:
    shown, rest = lines[start : start + FIRST], lines[start + FIRST :]
    tail = rest[-LAST:]
    return Part(shown, tail, len(rest) - len(tail), start + FIRST, start == 0)


def told(line: Line, known: Known) -> Line:
    if line.effect is None:
        return line
    fact = known.facts[str(line.effect.id)]
    return dataclasses.replace(line, fact=fact, row=row(fact), chain=known.chains.get(line.effect.id))


def beginning(request: HttpRequest) -> int:
    text = request.GET.get("from", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0


def going_on(
    run: Run, steps: Sequence[Step], effects: Sequence[Effect], facts: Sequence[EffectFacts]
) -> resume.Resume | None:
    begun = {effect.step_id for effect in effects}
    waiting = [
        (step.name, step.tool.name, str(step.tool.profile.get("effect_class", "")))
        for step in steps
        if step.id not in begun and step.state == "pending"
    ]
    turn = None
    if run.phase == Phase.UNWINDING:
        course = course_of(run, list(steps), list(effects))
        turn = resume.Turn(
            frozenset(str(effect.id) for effect in course.cancel),
            frozenset(str(effect.id) for effect in course.compensate),
        )
    return resume.resume(facts, waiting, phase=run.phase, turn=turn)


@screen
def raw(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """The run as agents are given it, as a file: never shown as a page, whatever it holds."""
    run: Any = find(request, run_id)
    answer = wire.respond(run_in_full(run))
    answer["Content-Disposition"] = content_disposition_header(True, f"run-{run.id}.json")
    return answer

"""Previews as pages show them: each request as it would be sent, what follows, and what isn't sent again."""

from __future__ import annotations

import dataclasses
import datetime as dt
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.contrib.auth.models import User

from repairs import preview, reading
from repairs.models import Case
from repairs.models.act import ActKind
from repairs.preview import Facts, Preview
from repairs.words.advice import Advice
from repairs.words.marked import _
from workflows.engine.ahead import Planned
from workflows.models import Effect, Run
from workflows.tools.draft import Draft

if TYPE_CHECKING:
    from repairs.views.case import Line

NOTES = (_("Code makes the request; this is what it is told."),)  # of `workflows.tools.base`, as translators find them
IN_PLACE = 8  # effects whose previews stand on the case's page; those of the others have pages of their own
REQUESTS_IN_PLACE = 60  # made for one page: each takes a fraction of a millisecond, and an act on a long run many
LARGE = 100  # effects of a run: beyond that one act alone may undo more than a page wants to wait for
REQUESTS = 10  # shown in place; the preview's own page has all
EFFECTS = 10  # named as not sent again


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request as it is read. `effect` is set where it is the first of its effect's."""

    effect: Effect | None
    draft: Draft
    timed: bool

    @property
    def text(self) -> str:
        head = [self.draft.line, *(f"{name}: {value}" for name, value in self.draft.headers)]
        return "\n".join(head) + (f"\n\n{self.draft.body}" if self.draft.body else "")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A preview on a page. `more`, `others`: requests, and effects that stay, beyond those shown."""

    preview: Preview
    note: str
    requests: Sequence[Request]
    more: int
    stays: Sequence[Effect]
    others: int


def shown(made: Preview, case: Case | Run, by: User, *, whole: bool = False) -> Shown:
    return told(made, made.note(case.id, by), whole=whole)


def told(made: Preview, note: str = "", *, whole: bool = True) -> Shown:
    """Without a note nothing can be asked for from there."""
    requests = [request for planned in made.sends for request in _requests(planned)]
    first = requests if whole else requests[:REQUESTS]
    stays = made.stays if whole else made.stays[:EFFECTS]
    return Shown(
        preview=made,
        note=note,
        requests=first,
        more=len(requests) - len(first),
        stays=stays,
        others=len(made.stays) - len(stays),
    )


def _requests(planned: Planned) -> list[Request]:
    return [
        Request(effect=None if number else planned.effect, draft=draft, timed=planned.timed)
        for number, draft in enumerate(planned.drafts)
    ]


Asked = Sequence[tuple[str, str]]  # acts, each with the effect that it is about, "" for the run


def of_lines(lines: Sequence[Line], next_act: Advice | None) -> Asked:
    """What may be asked of the engine on the case's page, in the order in which it stands there."""
    asked = [(act, line.fact.id) for line in [x for x in lines if x.possible][:IN_PLACE] for act, _, _ in line.possible]
    asked += [(ActKind.CALL_OFF.value, line.fact.id) for line in lines if line.called_off]
    if next_act and next_act.act in (ActKind.LOOK_AGAIN, ActKind.TURN_BACK):
        asked.insert(0, (next_act.act, next_act.effect))
    return asked


def in_place(case: Case, lines: Sequence[Line], asked: Asked, now: dt.datetime, by: User) -> dict[str, Shown]:
    """By "act effect" (no effect for the run): what the case's page shows before each act, as far as that is little;
    other acts have pages of their own. At most three statements."""
    if not asked:
        return {}
    sends = reading.last_sends(line.effect.id for line in lines if line.fact.reason == "less_remains")
    facts = preview.with_steps(case.run, [line.effect for line in lines], preview.left_of(sends))
    found: dict[str, Shown] = {}
    made = 0
    for act, effect in asked:
        if made > REQUESTS_IN_PLACE or (len(lines) > LARGE and act != ActKind.LOOK_AGAIN):
            continue
        one = _made(act, effect, facts, now)
        made += len(one.sends)
        found[f"{act} {effect}"] = shown(one, case, by)
    return found


def _made(act: str, effect: str, facts: Facts, at: dt.datetime) -> Preview:
    return preview.of_act(ActKind(act), facts, uuid.UUID(effect) if effect else None, at)

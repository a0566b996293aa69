"""The page of one act before it is asked for: all that it sends, uncut, and the form that asks for it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone

from repairs import preview, reading
from repairs.beside import acts_of
from repairs.models import Case
from repairs.models.act import ActKind
from repairs.preview_shown import shown
from repairs.views.case import Line, decides_run, find, lines_of, open_proposals, possible_of
from repairs.views.queue import holder_of
from repairs.views.screen import at_desk, screen, show
from repairs.words.advice import NAMES as ADVISED
from repairs.words.advice import next_safe_act
from repairs.words.marked import _

DASHED = (ActKind.LOOK_AGAIN, ActKind.WRITE_OFF, ActKind.TURN_BACK, ActKind.CALL_OFF)  # as their addresses are named
CALL_OFF = (_("Call off"), _("Nothing of it has left; nothing of it leaves then."))
LEAVE = (_("Write off"), _("Nothing is sent for what is left as it is, and it stays stated. It takes two people."))


@screen
def preview_page(request: HttpRequest, number: int, kind: str, effect_id: uuid.UUID | None = None) -> HttpResponse:
    """For who may ask for it; of a write-off also for who may confirm it."""
    case, now, desk = find(request, number), timezone.now(), at_desk(request)
    lines = lines_of(case, now)
    line = next((line for line in lines if line.effect.id == effect_id), None)
    told = _told(case, lines, line, kind)
    proposals = open_proposals(case, acts_of(case), lines) if kind == ActKind.WRITE_OFF else []
    proposal = next((act for act, true in proposals if true and act.effect_id == effect_id), None)
    if not (desk.may_repair or (desk.may_approve and proposal)):
        raise PermissionDenied(_("This takes the role repairer."))
    if told is None or (effect_id and line is None):
        raise Http404(_("There is no such act on this case now."))
    made = preview.of_act(ActKind(kind), preview.facts_of(case.run_id), effect_id, now)
    holder, mine = holder_of(case, now), case.holder_at(now) == desk.user.pk
    return show(
        request,
        "console/preview.html",
        here="queue",
        now=now,
        case=case,
        run=case.run,
        subject=reading.subject_of(case.run),
        act=kind,
        address=reverse(kind.replace("_", "-") if kind in DASHED else kind, args=[number]),
        name=told[0],
        does=told[1],
        line=line,
        lines=lines,
        proposal=proposal,
        alone=settings.FOUR_EYES == "when_possible",
        shown=shown(made, case, desk.user, whole=True),
        may_act=mine or not holder,
        holder=holder,
        kept="",
    )


def _told(case: Case, lines: Sequence[Line], line: Line | None, kind: str) -> tuple[str, str] | None:
    """The act's name and what it does, where it is possible now."""
    advice = next_safe_act([one.fact for one in lines], reading.reasons_of(case.run)) if case.live else None
    if advice and kind in preview.SHOWN and (advice.act, advice.effect) == (kind, line.fact.id if line else ""):
        return ADVISED[kind], advice.why
    acts = {act: (name, does) for act, name, does in (line.possible if line else possible_of(case, lines))}
    if case.live and (line.fact.stuck if line else decides_run(case, lines)):
        acts[ActKind.WRITE_OFF.value] = LEAVE
    if line and line.called_off:
        acts[ActKind.CALL_OFF.value] = CALL_OFF
    return acts.get(kind)

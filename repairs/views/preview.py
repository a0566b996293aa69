"""The page of one act before it is asked for: all that it sends, uncut, and the form that asks for it."""

from __future__ import annotations

import uuid

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone

from repairs import preview, reading
from repairs.models.act import ActKind
from repairs.preview_shown import shown
from repairs.roles import REPAIRER
from repairs.views.case import find, lines_of
from repairs.views.queue import holder_of
from repairs.views.screen import at_desk, in_role, screen, show
from repairs.words.advice import NAMES as ADVISED
from repairs.words.advice import next_safe_act


@screen
@in_role(REPAIRER)
def preview_page(request: HttpRequest, number: int, kind: str, effect_id: uuid.UUID | None = None) -> HttpResponse:
    case, now, desk = find(request, number), timezone.now(), at_desk(request)
    lines = lines_of(case, now)
    line = next((line for line in lines if line.effect.id == effect_id), None)
    acts = {act: (name, does) for act, name, does in line.possible} if line else {}
    advice = next_safe_act([line.fact for line in lines], reading.reasons_of(case.run)) if case.live else None
    if advice and (advice.act, advice.effect) == (kind, str(effect_id or "")):
        acts[kind] = (ADVISED[kind], advice.why)
    if kind not in acts or kind not in preview.SHOWN:
        raise Http404("There is no such act on this case now.")
    name, does = acts[kind]
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
        address=reverse("look-again" if kind == ActKind.LOOK_AGAIN else kind, args=[number]) if line else "",
        name=name,
        does=does,
        line=line,
        shown=shown(made, case, desk.user, whole=True),
        may_act=mine or not holder,
        holder=holder,
        kept="",
    )

"""One act on many cases: the choice, what it would do case by case, and how far it is."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from repairs import choice as choices
from repairs import glasses, keyset
from repairs.acts import bulk, escalate, proof
from repairs.bulk import choosing, seen, standing
from repairs.models import Batch
from repairs.models.batch import BatchAct, BatchState
from repairs.preview_shown import Shown, told
from repairs.roles import REPAIRER
from repairs.views import live
from repairs.views.acts import STATUS, why
from repairs.views.queue import show_queue, view_asked
from repairs.views.screen import act, at_desk, in_role, screen, show, tell
from repairs.words.batch import MOVES, NAMES, button, counted
from repairs.words.marked import _
from repairs.words.refusals import refusal
from repairs.words.resting import CAUSES
from workflows.authority.until import moment_of
from workflows.errors import Flaw, Invalid, MakegoodError

GIVEN = ("cause", "until", "to")


@screen
def batches(request: HttpRequest) -> HttpResponse:
    desk = at_desk(request)
    start = keyset.read(request.GET.get("after", ""), of="batches")
    at, after = start or (timezone.now(), None)
    rows = seen.seen_by(desk).exclude(state=BatchState.DRAFT.value)
    page = keyset.page(rows, order=("-number",), of="batches", at=at, after=after)
    return show(
        request, "console/bulk_list.html", here="queue", page=page, lines=[(b, NAMES[b.act][0]) for b in page.rows]
    )


@act
@in_role(REPAIRER)
def choose(request: HttpRequest) -> HttpResponse:
    """`act`, and either `of=ticked` with a `case` for each or `of=all` with what the queue was narrowed to."""
    try:
        batch = chosen(request)
    except Invalid as error:
        said = refusal(error)
        data = QueryDict(mutable=True)
        data.update({name: request.POST[name] for name in ("view", *choices.NAMES) if name in request.POST})
        return show_queue(request, data, status=400, error=said, ticked=request.POST.getlist("case"))
    return redirect("batch", batch_id=batch.id)


def chosen(request: HttpRequest) -> Batch:
    desk, data = at_desk(request), request.POST
    act = data.get("act", "")
    if act not in BatchAct.values:
        raise Invalid(
            _("Nothing was chosen."), [Flaw("act", act, _("is none of {values}", values=", ".join(BatchAct.values)))]
        )
    match data.get("of", ""):
        case "ticked":
            cases = choosing.ticked(desk, data.getlist("case"))
            return choosing.freeze(desk, BatchAct(act), cases, "ticked one by one")
        case "all":
            name, view = view_asked(data)
            if view is None:
                raise Invalid(_("Closed cases are left alone."), [Flaw("view", name, _("has no open cases"))])
            choice = choices.read(data)
            words = f"all of {view.title}" + (f", {choice.told()}" if choice.narrowed() else "")
            cases = choosing.matching(desk, view, choice, timezone.now())
            return choosing.freeze(desk, BatchAct(act), cases, words)
        case other:
            raise Invalid(_("Nothing was chosen."), [Flaw("of", other, _("is neither ticked nor all"))])


@screen
def batch_page(request: HttpRequest, batch_id: uuid.UUID) -> HttpResponse:
    return show_batch(request, batch_id)


@screen
def progress(request: HttpRequest, batch_id: uuid.UUID) -> HttpResponse:
    """The part of the page that moves. `shown`: the state in which the page shows the batch."""
    batch = seen.found(at_desk(request), batch_id)
    if request.GET.get("shown", batch.state) != batch.state:
        return live.anew(request, reverse("batch", args=[batch_id]))
    stands = standing_of(batch, request.GET.get("only", ""))
    return live.part(request, render_to_string(MOVING, stands), last=not stands["moves"])


MOVING = "console/_bulk_moving.html"


def show_batch(
    request: HttpRequest,
    batch_id: uuid.UUID,
    *,
    status: int = 200,
    error: str = "",
    kept: str = "",
    typed: QueryDict | None = None,
) -> HttpResponse:
    """`?only=`: a word of the figures, whose cases are listed then."""
    desk = at_desk(request)
    batch = seen.found(desk, batch_id)
    stands = standing_of(batch, request.GET.get("only", ""))
    moving, mine = render_to_string(MOVING, stands), batch.by_id == desk.user.pk
    name, does = NAMES[batch.act]
    return show(
        request,
        "console/bulk.html",
        here="queue",
        status=status,
        **stands,
        moving=moving,
        tag=live.tag_of(moving),
        name=name,
        does=does,
        button=button(batch.act, stands["will"]),
        mine=mine,
        may_confirm=batch.state == BatchState.ASKED and desk.may_approve and not mine,
        alone=batch.needs_second and (desk.alone or desk.breaks),
        broken=glasses.of_batch(desk, batch),
        proof_asked=proof.wanted(desk, request.session, strong=batch.sends or (mine and desk.breaks)),
        until=moment_of(batch.given.get("until", "")),
        causes=CAUSES,
        helpers=escalate.ROLES,
        error=error,
        kept=kept,
        typed=typed or {},
    )


def standing_of(batch: Batch, only: str) -> dict[str, Any]:
    """Its cases, each as it stands, and how many are how far."""
    chosen = batch.state in (BatchState.DRAFT, BatchState.ASKED)
    lines = standing.lines(batch, batch.items.all(), timezone.now(), whole=chosen)
    return {
        "batch": batch,
        "lines": [(line, told_of(line)) for line in lines if only in ("", line.kind)],
        "only": only,
        "chosen": chosen,
        "will": sum(line.waits and line.prospect.will for line in lines),
        "skipped": counted(line.kind for line in lines if line.waits and not line.prospect.will),
        "met": sum(not line.waits for line in lines),
        "ended": counted(line.kind for line in lines if not line.waits),
        "moves": batch.state == BatchState.RUNNING or any(line.came in MOVES for line in lines),
    }


def told_of(line: standing.Line) -> Shown | None:
    """All that is sent for a case, where it would be acted on."""
    if not line.waits or line.sending is None or line.sending.preview is None or not line.prospect.will:
        return None
    return told(line.sending.preview)


@act
@in_role(REPAIRER)
def ask(request: HttpRequest, batch_id: uuid.UUID) -> HttpResponse:
    desk, alone = at_desk(request), request.POST.get("how") == "alone"
    glass = request.POST.get("glass") == "yes"

    def verb() -> str:
        known = seen.found(desk, batch_id)
        if alone:
            proof.demand(request, desk, strong=known.sends or glass)
        digest = request.POST.get("digest", "")
        typed = {name: request.POST.get(name, "") for name in GIVEN}
        batch = bulk.ask(batch_id, by=desk.user, why=why(request), digest=digest, alone=alone, glass=glass, typed=typed)
        if known.state != BatchState.DRAFT:
            return _("{batch} was asked for already; nothing is done twice.", batch=batch.name)
        if batch.state == BatchState.ASKED:
            return _("A second person is asked; until then nothing is done.")
        return _("{batch} is under way.", batch=batch.name)

    return done(request, batch_id, verb)


@act
def answer(request: HttpRequest, batch_id: uuid.UUID, yes: bool) -> HttpResponse:
    """A second person's answer."""
    desk = at_desk(request)

    def verb() -> str:
        batch = seen.found(desk, batch_id)
        if batch.by_id != desk.user.pk:
            proof.demand(request, desk, strong=yes and batch.sends)
        if yes:
            bulk.confirm(batch_id, by=desk.user, why=why(request), digest=request.POST.get("digest", ""))
            return _("{batch} is under way.", batch=batch.name)
        bulk.decline(batch_id, by=desk.user, why=why(request))
        return _("Declined; nothing was done.")

    return done(request, batch_id, verb)


@act
@in_role(REPAIRER)
def halt(request: HttpRequest, batch_id: uuid.UUID, on: bool) -> HttpResponse:
    """Stops it, or lets it go on."""
    desk = at_desk(request)

    def verb() -> str:
        seen.found(desk, batch_id)
        batch = (bulk.resume if on else bulk.stop)(batch_id, by=desk.user)
        return (
            _("{batch} goes on.", batch=batch.name)
            if on
            else _("{batch} is stopped: no further case is acted on.", batch=batch.name)
        )

    return done(request, batch_id, verb)


def done(request: HttpRequest, batch_id: uuid.UUID, verb: Callable[[], str]) -> HttpResponse:
    """Does it and leads back; or shows the batch as it is now, with the refusal and what was typed."""
    try:
        said = verb()
    except MakegoodError as error:
        status, said = STATUS.get(type(error), 400), refusal(error)
        return show_batch(request, batch_id, status=status, error=said, kept=why(request), typed=request.POST)
    tell(request, said)
    return redirect("batch", batch_id=batch_id)

"""The acts of people, each a POST that does one thing and leads back to the case. A refusal keeps what was typed."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from repairs.acts import claim as claims
from repairs.acts import look_again as looks
from repairs.acts import on_effect as on_effects
from repairs.acts import on_run as on_runs
from repairs.acts import proof
from repairs.acts import turn_back as turns
from repairs.acts import write_off as write_offs
from repairs.acts.evidence import Given, given
from repairs.models import Act, Case
from repairs.models.act import ActKind
from repairs.roles import REPAIRER
from repairs.scope import one, visible
from repairs.views.case import find, show_case
from repairs.views.screen import act, at_desk, in_role, tell
from repairs.words.marked import _
from repairs.words.refusals import refusal
from workflows.errors import Denied, Flaw, Invalid, MakegoodError, NotFound, StaleFence

STATUS: dict[type[MakegoodError], int] = {Denied: 403, NotFound: 404, StaleFence: 409}


@act
@in_role(REPAIRER)
def claim(request: HttpRequest, number: int) -> HttpResponse:
    case, by = find(request, number), at_desk(request).user

    def ask() -> None:
        fence = whole(request, "fence") if why(request) else None
        claims.claim(case.id, by=by, why=why(request), fence=fence)

    return done(request, case, ask, _("{name} is yours for 15 min.", name=case.name))


@act
@in_role(REPAIRER)
def release(request: HttpRequest, number: int) -> HttpResponse:
    case, by = find(request, number), at_desk(request).user
    return done(request, case, lambda: claims.release(case.id, by=by), _("{name} is free again.", name=case.name))


@act
@in_role(REPAIRER)
def look_again(request: HttpRequest, number: int) -> HttpResponse:
    case, by = find(request, number), at_desk(request).user

    def ask() -> None:
        effect_id, fence = effect(request), whole(request, "fence")
        assert effect_id is not None
        looks.look_again(case.id, effect_id=effect_id, by=by, why=why(request), fence=fence, note=shown(request))

    return done(request, case, ask, _("The engine looks again; what it sees appears here."))


@act
@in_role(REPAIRER)
def on_effect(request: HttpRequest, number: int, kind: str) -> HttpResponse:
    """One of the acts that ask the engine about one effect."""
    case, by = find(request, number), at_desk(request).user

    def ask() -> None:
        effect_id, fence, seq = effect(request), whole(request, "fence"), whole(request, "seq")
        assert effect_id is not None
        names = {name[len(RESULT) :]: str(text) for name, text in request.POST.items() if name.startswith(RESULT)}
        told: dict[str, Any] = {"why": why(request), "fence": fence, "seq": seq, "note": shown(request)}
        told |= {"result": names, "given": evidence_of(request)}
        on_effects.ask(ActKind(kind), case.id, effect_id=effect_id, by=by, **told)

    return done(request, case, ask, ASKED[ActKind(kind)])


RESULT = "result."
ASKED = {
    ActKind.TRY_AGAIN: _(
        "The engine sends it again as soon as policy and stops let it; what comes of it appears here."
    ),
    ActKind.SKIP: _("The run goes on without it."),
    ActKind.FOUND: _("Recorded: you saw it. The run goes on."),
    ActKind.ABSENT: _("Recorded: nothing of it is outside."),
    ActKind.UNDO_REST: _("The engine undoes what is left; what comes of it appears here."),
    ActKind.UNDO_AGAIN: _("The engine undoes it once more; what comes of it appears here."),
}


@act
@in_role(REPAIRER)
def on_run(request: HttpRequest, number: int, kind: str) -> HttpResponse:
    """One of the acts that ask the engine about the run as a whole."""
    case, by = find(request, number), at_desk(request).user

    def ask() -> None:
        told: dict[str, Any] = {"why": why(request), "fence": whole(request, "fence"), "note": shown(request)}
        on_runs.ask(ActKind(kind), case.id, by=by, **told)

    return done(request, case, ask, OF_THE_RUN[ActKind(kind)])


OF_THE_RUN = {
    ActKind.CANCEL: _("Cancelled; what stands is undone, in order, and each undoing appears here."),
    ActKind.HOLD: _("Stopped where it is; what becomes of it is yours to decide."),
    ActKind.RESUME: _("The run goes forward again; what its steps do appears here."),
}


@act
@in_role(REPAIRER)
def turn_back(request: HttpRequest, number: int) -> HttpResponse:
    case, by = find(request, number), at_desk(request).user

    def ask() -> None:
        turns.turn_back(case.id, by=by, why=why(request), fence=whole(request, "fence"), note=shown(request))

    return done(request, case, ask, _("The engine undoes what stands, in order; each undoing appears here."))


@act
@in_role(REPAIRER)
def write_off(request: HttpRequest, number: int) -> HttpResponse:
    """The button pressed says whether a second person is asked or the person acts alone."""
    case, by = find(request, number), at_desk(request).user
    alone = request.POST.get("how") == "alone"

    def ask() -> None:
        if alone:
            proof.demand(request, at_desk(request), strong=True)
        verb = write_offs.alone if alone else write_offs.propose
        fence, seq = whole(request, "fence"), whole(request, "seq")
        told: dict[str, Any] = {"why": why(request), "fence": fence, "seq": seq, "note": shown(request)}
        told |= {"given": evidence_of(request)}
        if alone:
            told["glass"] = request.POST.get("glass") == "yes"
        verb(case.id, effect_id=effect(request, optional=True), by=by, **told)

    said = _("A second person is asked; until then nothing is written off.")
    return done(request, case, ask, _("Written off by you alone.") if alone else said)


@act
def answer(request: HttpRequest, act_id: uuid.UUID, yes: bool) -> HttpResponse:
    """A second person's answer to a proposal."""
    desk = at_desk(request)
    proposal = one(visible(desk, Act).select_related("case"), id=act_id)
    case, by = find(request, proposal.case.number), desk.user

    def decide() -> None:
        if proposal.by_id != by.pk:
            proof.demand(request, desk, strong=yes)
        if yes:
            write_offs.confirm(act_id, by=by, why=why(request), note=shown(request))
        else:
            write_offs.decline(act_id, by=by, why=why(request))

    return done(request, case, decide, _("Written off.") if yes else _("Declined; nothing was written off."))


def done(request: HttpRequest, case: Case, verb: Callable[[], None], said: str, *, at: str = "") -> HttpResponse:
    """Does it and leads back, to the place `at` of the page where one is named. Or shows the case as it is now, with
    the refusal and what was typed."""
    try:
        verb()
    except MakegoodError as error:
        status = STATUS.get(type(error), 400)
        refused = {"error": refusal(error), "kept": why(request)}
        return show_case(request, find(request, case.number), status=status, typed=request.POST, **refused)
    tell(request, said)
    return redirect(f"{reverse('case', args=[case.number])}{at and f'#{at}'}")


def why(request: HttpRequest) -> str:
    return request.POST.get("why", "")


def evidence_of(request: HttpRequest) -> list[Given]:
    """What came with the form. Raises `Invalid`."""
    return given(request.POST.get("evidence", ""), request.FILES.get("file"))


def shown(request: HttpRequest) -> str:
    """The note of the preview that the form carries."""
    return request.POST.get("preview", "")


def pressed(request: HttpRequest, first: str, second: str) -> str:
    """Which of a form's two buttons. Raises `Invalid` where neither was: what nobody said is no decision."""
    how = request.POST.get("how", "")
    if how not in (first, second):
        raise Invalid(
            _("Say which you mean; nothing was done."),
            [Flaw("how", how, _("is neither {first} nor {second}", first=first, second=second))],
        )
    return how


def whole(request: HttpRequest, name: str) -> int:
    text = request.POST.get(name, "")
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise Invalid(_("This form is not whole; open the page anew."), [Flaw(name, text, _("must be a whole number"))])
    return int(text)


def effect(request: HttpRequest, *, optional: bool = False) -> uuid.UUID | None:
    text = request.POST.get("effect", "")
    if optional and not text:
        return None
    try:
        return uuid.UUID(text)
    except ValueError as error:
        raise Invalid(
            _("This form is not whole; open the page anew."), [Flaw("effect", text, _("is no id"))]
        ) from error

"""What is written beside a case: facts, guesses, who was told what, and evidence to be read and taken away."""

from __future__ import annotations

import hashlib
import uuid

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.http import content_disposition_header

from repairs.acts import correct_time
from repairs.acts import note as notes
from repairs.acts import tick as ticks
from repairs.models import Act, Case, Evidence
from repairs.models.act import ActKind
from repairs.roles import REPAIRER
from repairs.runbook import of_signature
from repairs.scope import one, visible
from repairs.views.acts import done, evidence_of, pressed, whole
from repairs.views.case import find
from repairs.views.screen import act, at_desk, in_role, screen, show
from repairs.words.marked import _
from workflows.errors import Flaw, Invalid
from workflows.visible import visible as made_visible

SAID = {
    ActKind.FACT: _("Kept as a fact."),
    ActKind.GUESS: _("Kept as a guess, open until somebody confirms or refutes it."),
    ActKind.TOLD: _("Kept: who was told what."),
}
FILE_NAME = 120  # characters


@act
@in_role(REPAIRER)
def note(request: HttpRequest, number: int, kind: str) -> HttpResponse:
    case, by, post = find(request, number), at_desk(request).user, request.POST

    def write() -> None:
        told = {"whom": post.get("whom", ""), "how": post.get("how", "")}
        notes.note(case.id, kind=ActKind(kind), by=by, text=post.get("text", ""), given=evidence_of(request), **told)

    return done(request, case, write, SAID[ActKind(kind)])


@act
@in_role(REPAIRER)
def judge(request: HttpRequest, number: int, act_id: uuid.UUID) -> HttpResponse:
    """The button pressed says whether the guess was right."""
    case, by = find(request, number), at_desk(request).user
    one(visible(at_desk(request), Act), id=act_id, case=case, kind=ActKind.GUESS.value)

    def say() -> None:
        right = pressed(request, "confirm", "refute") == "confirm"
        text, given = request.POST.get("text", ""), evidence_of(request)
        notes.judge(case.id, act_id, right=right, by=by, text=text, given=given)

    return done(request, case, say, _("Confirmed.") if request.POST.get("how") == "confirm" else _("Refuted."))


@act
@in_role(REPAIRER)
def tick(request: HttpRequest, number: int) -> HttpResponse:
    """The button pressed says whether all was as expected."""
    case, by, post = find(request, number), at_desk(request).user, request.POST

    def say() -> None:
        step, version = whole(request, "step"), whole(request, "version")
        otherwise = pressed(request, "expected", "otherwise") == "otherwise"
        seen = post.get("text", "") if otherwise else ""
        if otherwise and not seen.strip():
            raise Invalid(_("Say what was otherwise."), [Flaw("text", seen, _("says nothing"))])
        ticks.tick(case.id, by=by, name=post.get("runbook", ""), version=version, step=step, seen=seen)

    return done(request, case, say, _("Kept your place."), at=next_place(case, post.get("step", "")))


def next_place(case: Case, step: str) -> str:
    """Where the page is opened again: at the step after the one that was ticked."""
    runbook = of_signature(case.signature)
    last = len(runbook.steps) if runbook else 0
    return f"step-{min(int(step) + 1, last)}" if last and step.isascii() and step.isdigit() and len(step) < 4 else ""


@act
@in_role(REPAIRER)
def time(request: HttpRequest, number: int) -> HttpResponse:
    case, by, post = find(request, number), at_desk(request).user, request.POST

    def correct() -> None:
        correct_time.correct_time(case.id, by=by, minutes=post.get("minutes", ""), why=post.get("text", ""))

    return done(request, case, correct, _("Kept beside what was measured."))


@screen
def evidence_page(request: HttpRequest, number: int, evidence_id: uuid.UUID) -> HttpResponse:
    """What it says, as the text it is; what isn't text is only told of."""
    case, piece = find(request, number), _piece(request, number, evidence_id)
    content = bytes(piece.content)
    same = hashlib.sha256(content).hexdigest() == piece.sha256
    return show(
        request, "console/evidence.html", here="queue", case=case, piece=piece, text=text_of(content), same=same
    )


@screen
def evidence_file(request: HttpRequest, number: int, evidence_id: uuid.UUID) -> HttpResponse:
    """The bytes as they came, for nothing that would run or draw them."""
    piece = _piece(request, number, evidence_id)
    answer = HttpResponse(bytes(piece.content), content_type="application/octet-stream")
    name = made_visible(piece.name)[:FILE_NAME] + (".txt" if piece.name == "text" else "")
    answer["Content-Disposition"] = content_disposition_header(True, name)
    answer["X-Content-Type-Options"] = "nosniff"
    answer["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return answer


def _piece(request: HttpRequest, number: int, evidence_id: uuid.UUID) -> Evidence:
    rows = visible(at_desk(request), Evidence).select_related("act__by")
    return one(rows, id=evidence_id, act__case__number=number)


def text_of(content: bytes) -> str | None:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\x00" in text else text


urlpatterns = [
    *(
        path(f"repairs/<int:number>/{kind.value}", note, {"kind": kind.value}, name=f"note-{kind.value}")
        for kind in SAID
    ),
    path("repairs/<int:number>/tick", tick, name="tick"),
    path("repairs/<int:number>/time", time, name="correct-time"),
    path("repairs/<int:number>/guesses/<uuid:act_id>", judge, name="judge"),
    path("repairs/<int:number>/evidence/<uuid:evidence_id>", evidence_page, name="evidence"),
    path("repairs/<int:number>/evidence/<uuid:evidence_id>/file", evidence_file, name="evidence-file"),
]

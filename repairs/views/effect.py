"""One effect: what was asked, each send, each look, each decision, and its journal. And its values as files."""

from __future__ import annotations

import hashlib
import json
import uuid
from typing import Any

from django.db.models import OuterRef, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.http import content_disposition_header

from repairs import preview, reading
from repairs.acts import proof
from repairs.acts import tool_version as acts
from repairs.acts.door import needs_some
from repairs.preview_shown import shown
from repairs.scope import one, visible
from repairs.views.acts import STATUS, pressed, why
from repairs.views.acts import shown as shown_note
from repairs.views.screen import act, at_desk, screen, show, tell
from repairs.words.marked import _
from repairs.words.seen import row
from workflows.errors import MakegoodError
from workflows.models import Approval, Attempt, Decision, Effect, Entry, Look, Payload
from workflows.states import EffectState

SHOWN = 200  # rows of each history; what lies before them is said to be there
VALUES = {"arguments": _("Arguments"), "result": _("Result"), "before": _("Before")}


@screen
def effect_page(request: HttpRequest, run_id: uuid.UUID, effect_id: uuid.UUID) -> HttpResponse:
    return show_effect(request, find(request, run_id, effect_id))


def show_effect(request: HttpRequest, effect: Any, *, status: int = 200, **context: Any) -> HttpResponse:
    """The page of an effect. `error` and `kept` come from an act that was refused."""
    sends = list(Attempt.objects.filter(effect=effect).order_by("-id")[:SHOWN])
    looks = list(Look.objects.filter(effect=effect).order_by("-id")[:SHOWN])
    decisions = list(Decision.objects.filter(effect=effect).select_related("agent").order_by("-id")[:SHOWN])
    entries = list(Entry.objects.filter(subject_id=effect.id).order_by("-seq")[:SHOWN])
    payloads = dict(Payload.objects.filter(entry_id__in=[e.id for e in entries]).values_list("entry_id", "data"))
    fact = reading.facts_of(
        effect.run, [effect], {effect.id: looks[0]} if looks else {}, {effect.id: sends[0]} if sends else {}
    )[0]
    desk = at_desk(request)
    may_decide = bool(desk.roles & acts.MAY_DECIDE)
    waits = may_decide and (effect.state, effect.reason) == (EffectState.BLOCKED, "version")
    return show(
        request,
        "console/effect.html",
        here="runs",
        status=status,
        effect=effect,
        run=effect.run,
        subject=reading.subject_of(effect.run),
        fact=fact,
        row=row(fact),
        undoing={"id": effect.undoing_id, "state": effect.undoing_state} if effect.undoing_id else None,
        sends=sends,
        looks=looks,
        decisions=decisions,
        approvals=Approval.objects.filter(effect=effect).defer(*BULKY).order_by("-id")[:SHOWN],
        may_decide=may_decide,
        going=shown(preview.of_let_go(effect, timezone.now()), effect.run, desk.user, whole=True) if waits else None,
        journal=[{"entry": entry, "data": payloads.get(entry.id)} for entry in entries],
        values=[value_of(effect, n, title) for n, title in VALUES.items() if getattr(effect, n) is not None],
        shown=SHOWN,
        **{"error": "", "kept": "", **context},
    )


BULKY = ("fields", "target", "origin", "question")  # of approvals, whose own pages have them


@act
def decide_version(request: HttpRequest, run_id: uuid.UUID, effect_id: uuid.UUID) -> HttpResponse:
    """About an effect that waits because its tool's version is not what it was: the button says whether it may go."""
    effect = find(request, run_id, effect_id)
    try:
        needs_some(at_desk(request), acts.MAY_DECIDE, _("decide about its version"))
        proof.demand(request, at_desk(request), strong=False)
        go = pressed(request, "go", "give_up") == "go"
        if go:
            acts.let_go(at_desk(request), effect, why=why(request), note=shown_note(request))
        else:
            acts.give_up(at_desk(request), effect, why=why(request))
    except MakegoodError as error:
        status = STATUS.get(type(error), 400)
        again = find(request, run_id, effect_id)
        return show_effect(request, again, status=status, error=error.detail, kept=why(request))
    tell(request, _("It may go with its version as it is now.") if go else _("Given up; it is not sent."))
    return redirect("effect", run_id=run_id, effect_id=effect_id)


@screen
def effect_value(request: HttpRequest, run_id: uuid.UUID, effect_id: uuid.UUID, name: str) -> HttpResponse:
    """A value whole, as a file: never shown as a page, whatever it holds."""
    file = as_file(getattr(find(request, run_id, effect_id), name))
    answer = HttpResponse(file, content_type="application/json")
    answer["X-Content-Digest"] = hashlib.sha256(file).hexdigest()
    answer["Content-Disposition"] = content_disposition_header(True, f"{effect_id}-{name}.json")
    return answer


def value_of(effect: Any, name: str, title: str) -> dict[str, Any]:
    """A value with size and digest of its file, by which what was downloaded is known to be whole."""
    value = getattr(effect, name)
    file = as_file(value)
    return {"name": name, "title": title, "value": value, "size": len(file), "sha256": hashlib.sha256(file).hexdigest()}


def as_file(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=True, indent=2).encode()


def find(request: HttpRequest, run_id: uuid.UUID, effect_id: uuid.UUID) -> Any:
    """The effect, with id and state of its undoing where there is one."""
    undoing = Effect.objects.filter(compensates=OuterRef("pk")).order_by("ordinal", "id")
    effects = visible(at_desk(request), Effect).select_related(
        "run__agent", "run__workflow", "step", "tool", "compensates", "makes_good__step"
    )
    effects = effects.annotate(
        undoing_id=Subquery(undoing.values("id")[:1]), undoing_state=Subquery(undoing.values("state")[:1])
    )
    return one(effects, id=effect_id, run=run_id)

"""Making good on a case: which tool, with what, for what; exactly what it sends; then a person sends it."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from repairs import reading, remedy_form
from repairs.acts import remedy as remedies
from repairs.messages import messages as texts_to_customers
from repairs.models import Case
from repairs.preview_shown import shown
from repairs.roles import REPAIRER
from repairs.views.acts import STATUS, done, effect, whole, why
from repairs.views.case import find
from repairs.views.queue import holder_of
from repairs.views.screen import act, at_desk, in_role, screen, show, tell
from repairs.words.marked import _, said
from repairs.words.refusals import flawed
from repairs.words.remedy_fields import Field, fields_of
from repairs.words.remedy_messages import filled, takes_message
from workflows.engine import remedy as engine
from workflows.engine.remedy import RemedyBody
from workflows.errors import Flaw, Invalid, MakegoodError
from workflows.models import Effect, Tool
from workflows.states import Kind

SAID = _("The engine sends it as soon as policy, approvals and stops let it; what comes of it appears here.")
RUN = "run"  # chosen where it is about the run as a whole


@dataclasses.dataclass(frozen=True, slots=True)
class Input:
    """A field as it stands on the page. `wrong`: what is to be mended in it."""

    field: Field
    text: str
    wrong: str = ""

    @property
    def id(self) -> str:
        return f"arg-{self.field.name or 'all'}"


@screen
@in_role(REPAIRER)
def remedy_page(request: HttpRequest, number: int) -> HttpResponse:
    """Empty, or begun from what is to be made good and from a message."""
    return _page(request, find(request, number), request.GET)


@act
@in_role(REPAIRER)
def make_good(request: HttpRequest, number: int) -> HttpResponse:
    """The button pressed says whether the person wants to see what it sends, or sends what they saw."""
    case = find(request, number)
    if request.POST.get("do") != "send":
        return _page(request, case, request.POST)
    try:
        body, fence = _body(request.POST), whole(request, "fence")
        note, by = request.POST.get("preview", ""), at_desk(request).user
        remedies.make_good(case.id, body, by=by, why=why(request), fence=fence, note=note)
    except MakegoodError as error:
        return _page(request, find(request, number), request.POST, error=error)
    tell(request, SAID)
    return redirect("case", number=number)


@act
@in_role(REPAIRER)
def call_off(request: HttpRequest, number: int) -> HttpResponse:
    case, by = find(request, number), at_desk(request).user

    def ask() -> None:
        effect_id, fence = effect(request), whole(request, "fence")
        assert effect_id is not None
        remedies.call_off(
            case.id, effect_id=effect_id, by=by, why=why(request), fence=fence, note=request.POST.get("preview", "")
        )

    return done(request, case, ask, _("Called off; nothing of it leaves any more."))


def _page(
    request: HttpRequest, case: Case, given: Mapping[str, str], *, error: MakegoodError | None = None
) -> HttpResponse:
    now, desk = timezone.now(), at_desk(request)
    effects = reading.effects_of([case.run_id])[case.run_id]
    tools = engine.offered(case.run_id)
    tool = next((one for one in tools if one.name == given.get("tool")), None)
    of = next((one for one in effects if str(one.id) == given.get("makes_good")), None)
    fields = fields_of(tool.spec["arguments"], as_json=bool(given.get("as_json"))) if tool else []
    typed = request.method == "POST"
    texts = remedy_form.typed_of(given, fields) if typed else _begun(case, tool, fields, of, given)
    made, flaws = None, list(error.flaws) if error else []
    if typed:
        try:
            body = _body(given)
            made = engine.plan(case.run_id, body)
        except MakegoodError as trouble:
            error, flaws = trouble, list(trouble.flaws)
    seen = shown(remedies.shown(case, body, made, now), case, desk.user, whole=True) if made else None
    placed, others = _placed(fields, texts, flaws)
    return show(
        request,
        "console/remedy.html",
        here="queue",
        status=STATUS.get(type(error), 400) if error else 200,
        now=now,
        case=case,
        run=case.run,
        subject=reading.subject_of(case.run),
        tools=tools,
        tool=tool,
        given=given,
        choices=[(one, engine.why_not(one)) for one in effects if one.kind == Kind.FORWARD and not one.read_only],
        inputs=placed,
        texts=texts_to_customers() if tool and takes_message(_names(tool)) else {},
        of=of,
        error=error.detail if error else "",
        flaws=others,
        made=made,
        shown=seen,
        asked=given.get("request") or uuid.uuid4().hex,
        kept=given.get("why", ""),
        holder=holder_of(case, now) if case.live and case.holder_at(now) != desk.user.pk else "",
    )


def _body(given: Mapping[str, str]) -> RemedyBody:
    """Raises `Invalid` for what can't be read."""
    name = given.get("tool", "")
    tool = Tool.objects.filter(name=name, current=True).first() if name.isprintable() else None
    if tool is None:
        raise Invalid(_("Choose a tool."), [Flaw("tool", name, _("there is no such tool"))])
    fields = fields_of(tool.spec["arguments"], as_json=bool(given.get("as_json")))
    arguments, flaws = remedy_form.arguments_of(fields, remedy_form.typed_of(given, fields))
    if flaws:
        raise Invalid(_("This can't be sent as it is filled in."), flaws)
    return RemedyBody(
        tool=tool.name,
        arguments=arguments,
        makes_good=_made_good(given.get("makes_good", "")),
        request=given.get("request", "")[:64],
        again=given.get("again") == "yes",
    )


def _made_good(text: str) -> uuid.UUID | None:
    """Nothing is assumed: what it makes good, or that it is the run as a whole, must be chosen."""
    if text == RUN:
        return None
    try:
        return uuid.UUID(text)
    except ValueError as trouble:
        raise Invalid(_("Choose what it makes good."), [Flaw("makes_good", text, _("choose one"))]) from trouble


def _begun(
    case: Case, tool: Tool | None, fields: Sequence[Field], of: Effect | None, given: Mapping[str, str]
) -> dict[str, str]:
    if tool is None:
        return {}
    message = texts_to_customers().get(given.get("message", ""))
    run = case.run
    blanks = {
        "customer": run.subject_label or run.subject_id,
        "case": case.name,
        "what": (of.residue if of else "") or f"{run.workflow.name} of {run.created_at:%Y-%m-%d}",
        "reference": run.external_id,
    }
    texts = filled(message, blanks, _names(tool)) if message else {}
    return remedy_form.begun(tool.spec["arguments"], fields, of, texts)


def _names(tool: Tool) -> dict[str, Any]:
    found: dict[str, Any] = tool.spec["arguments"].get("properties") or {}
    return found


def _placed(fields: Sequence[Field], texts: Mapping[str, str], flaws: Sequence[Flaw]) -> tuple[list[Input], list[Flaw]]:
    """The fields with what is wrong in each, and what is wrong besides."""
    wrong: dict[str, str] = {}
    others = []
    for flaw in flaws:
        root, _, rest = flaw.path.partition(".")
        name = rest.split(".", 1)[0] if root == remedy_form.ARGUMENTS else None
        home = next((field.name for field in fields if field.name in (name, "")), None) if name is not None else None
        if home is None:
            others.append(flaw)
        else:
            wrong[home] = "; ".join(
                filter(None, [wrong.get(home), said(flaw.message if rest == home else flawed(flaw))])
            )
    return [Input(field, texts.get(field.name, ""), wrong.get(field.name, "")) for field in fields], others

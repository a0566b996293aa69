"""Policies: what is allowed at the door, in words and source; drafts, their trial on past decisions, and history."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from repairs.acts import policy as acts
from repairs.acts import proof
from repairs.acts.door import actor
from repairs.desk import Desk
from repairs.scope import one, visible
from repairs.views.acts import STATUS, why
from repairs.views.screen import act, at_desk, screen, show, tell
from repairs.words import clock, rules
from repairs.words.marked import _, ngettext
from workflows.authority import policies, policy
from workflows.errors import Flaw, Invalid, MakegoodError
from workflows.models import Entry, Payload, Policy, Run
from workflows.models.policy import ACTIVE, DRAFT

MOST = 100  # versions listed, entries of one's journal


@screen
def policies_list(request: HttpRequest) -> HttpResponse:
    present = policies.in_force()
    versions = list(Policy.objects.defer("text", "differences").order_by("-id")[:MOST])
    return show(
        request,
        "console/policies.html",
        here="policies",
        present=present,
        told=told(present) if present else None,
        drafts=[one for one in versions if one.state == DRAFT],
        versions=versions,
        shipped=sorted(policies.shipped()),
        may_draft=bool(at_desk(request).roles & acts.MAY_DRAFT),
    )


def told(version: Policy) -> dict[str, Any]:
    """A version's rules in words and its examples, each with what the policy says of it."""
    try:
        checked = policy.check(version.text, label=str(version))
    except Invalid as error:  # kept by another version of this program
        return {"flaws": error.flaws, "rules": [], "examples": []}
    return {
        "flaws": [],
        "rules": rules.lines(checked.shape.rules),
        "examples": policy.tried(checked),
        "impossible": list(policies.impossible(checked)) if version.state == DRAFT else [],
    }


@screen
def policy_page(request: HttpRequest, policy_id: uuid.UUID) -> HttpResponse:
    return show_policy(request, one(Policy.objects.all(), id=policy_id))


def show_policy(request: HttpRequest, version: Policy, *, status: int = 200, **context: Any) -> HttpResponse:
    desk = at_desk(request)
    before, may_not = base_of(version), acts.may_not_activate(desk, version)
    glass = may_not == acts.DRAFTED_IT and desk.breaks
    return show(
        request,
        "console/policy.html",
        here="policies",
        status=status,
        version=version,
        lines=list(enumerate(version.text.splitlines(), 1)),
        told=told(version),
        before=before,
        difference=marked(policies.difference(before, version)) if before else [],
        dry_run=tried(version, desk),
        journal=journal_of(version),
        draft=version.state == DRAFT,
        may_draft=bool(desk.roles & acts.MAY_DRAFT),
        may_try=bool(desk.roles & (acts.MAY_DRAFT | acts.MAY_ACTIVATE)),
        may_not_activate="" if glass else may_not,
        glass=glass,
        alone=desk.alone and version.drafted_by == actor(desk.user),
        **{"error": "", "flaws": (), "kept": "", "kept_why": "", **context},
    )


def base_of(version: Policy) -> Policy | None:
    """What a version is compared with: what was in force before it, or is while it is a draft."""
    if version.state != ACTIVE:
        return policies.in_force()
    earlier = Policy.objects.filter(state=ACTIVE, active_from__lt=version.active_from)
    return earlier.order_by("-active_from", "-id").first()


def marked(difference: Sequence[str]) -> list[tuple[str, str]]:
    """(what it is, the line): added, removed, or around a change."""
    kinds = {"+": "added", "-": "removed", "@": "place"}
    return [(kinds.get(line[:1], "same"), line) for line in difference[2:]]  # past both names


def tried(version: Policy, desk: Desk) -> dict[str, Any] | None:
    """The dry run that is kept with a draft: its sentence, and the differences of runs that this person may see."""
    found: dict[str, Any] | None = version.differences
    if found is None:
        return None
    listed = found.get("differences") or []
    runs = {
        str(pk) for pk in visible(desk, Run).filter(id__in={row["run"] for row in listed}).values_list("id", flat=True)
    }
    shown = [row for row in listed if row["run"] in runs]
    sentence = rules.changes(found.get("counts") or {})
    more = found.get("stricter", 0) + found.get("looser", 0) - len(shown)
    return {**found, "sentence": sentence, "listed": shown, "more": more}


def journal_of(version: Policy) -> list[dict[str, Any]]:
    entries = list(Entry.objects.filter(subject_id=version.id).order_by("-seq")[:MOST])
    payloads = dict(Payload.objects.filter(entry_id__in=[e.id for e in entries]).values_list("entry_id", "data"))
    return [{"entry": entry, "data": payloads.get(entry.id)} for entry in entries]


@screen
def edit(request: HttpRequest) -> HttpResponse:
    """`?from=` a version to begin with, `?shipped=` a text that ships; else what is in force."""
    shipped, begin = request.GET.get("shipped", ""), request.GET.get("from", "")
    if begin:
        text = one(Policy.objects.all(), id=begin).text
    elif shipped in policies.shipped():
        text = policies.shipped()[shipped]
    else:
        present = policies.in_force()
        text = present.text if present else ""
    return show_editor(request, text)


def show_editor(request: HttpRequest, text: str, *, status: int = 200, **context: Any) -> HttpResponse:
    flaws: Sequence[Flaw] = context.pop("flaws", ())
    return show(
        request,
        "console/policy_edit.html",
        here="policies",
        status=status,
        text=text,
        flaws=[placed(flaw, text) for flaw in flaws],
        longest=policy.LONGEST,
        may_draft=bool(at_desk(request).roles & acts.MAY_DRAFT),
        **{"error": "", "sound": None, "kept": "", **context},
    )


def placed(flaw: Flaw, text: str) -> dict[str, Any]:
    """A flaw with its line, and what stands there."""
    number = int(getattr(flaw, "line", 0) or 0)
    lines = text.splitlines()
    there = lines[number - 1] if 0 < number <= len(lines) else ""
    return {"flaw": flaw, "line": number, "column": getattr(flaw, "column", 0), "there": there}


@act
def draft(request: HttpRequest) -> HttpResponse:
    """The button pressed says whether the text is only checked, or kept as a draft."""
    text, kept = request.POST.get("text", ""), why(request)
    try:
        if request.POST.get("how") == "check":
            return show_editor(request, text, sound=examined(text), kept=kept)
        made = acts.draft(at_desk(request), text, why=kept)
    except MakegoodError as error:
        status = STATUS.get(type(error), 400)
        return show_editor(request, text, status=status, error=error.detail, flaws=error.flaws, kept=kept)
    drafted = _("{policy} is a draft. Try it on past decisions; another person activates it.", policy=str(made))
    tell(request, drafted)
    return redirect("policy", policy_id=made.id)


def examined(text: str) -> dict[str, Any]:
    """What a sound text says. Raises `Invalid`; nothing is written."""
    checked = policy.check(text.replace("\r\n", "\n"))
    flaws = [*policy.flaws(checked), *policies.impossible(checked)]
    return {
        "name": checked.name,
        "rules": rules.lines(checked.shape.rules),
        "examples": policy.tried(checked),
        "flaws": [placed(flaw, text) for flaw in flaws],
    }


@act
def attempt(request: HttpRequest, policy_id: uuid.UUID) -> HttpResponse:
    def say(desk: Desk) -> str:
        found = acts.attempt(desk, policy_id)
        return ngettext(
            "Tried on {count} past decision; nothing was sent.",
            "Tried on {count} past decisions; nothing was sent.",
            found.asked,
        )

    return done(request, policy_id, say)


@act
def activate(request: HttpRequest, policy_id: uuid.UUID) -> HttpResponse:
    def say(desk: Desk) -> str:
        proof.demand(request, desk, strong=True)
        glass, at = request.POST.get("glass") == "yes", request.POST.get("at", "")
        made = acts.activate(desk, policy_id, at=at, why=why(request), glass=glass)
        assert made.active_from is not None
        begins = clock.said(made.active_from, "%Y-%m-%d %H:%M:%S")
        return _("{policy} is in force from {time} on.", policy=str(made), time=begins)

    return done(request, policy_id, say)


@act
def discard(request: HttpRequest, policy_id: uuid.UUID) -> HttpResponse:
    def say(desk: Desk) -> str:
        return _("{policy} is discarded; it stays readable.", policy=str(acts.discard(desk, policy_id)))

    return done(request, policy_id, say)


def done(request: HttpRequest, policy_id: uuid.UUID, say: Callable[[Desk], str]) -> HttpResponse:
    try:
        said = say(at_desk(request))
    except MakegoodError as error:
        version = one(Policy.objects.all(), id=policy_id)
        status = STATUS.get(type(error), 400)
        flaws = [placed(flaw, version.text) for flaw in error.flaws]
        return show_policy(
            request,
            version,
            status=status,
            error=error.detail,
            flaws=flaws,
            kept=request.POST.get("at", ""),
            kept_why=why(request),
        )
    tell(request, said)
    return redirect("policy", policy_id=policy_id)

"""Tools: what each promises, what bounds it, how its sends ended in the last day; and the rows behind each count."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from repairs import keyset, usage
from repairs.acts import proof
from repairs.acts import tool_version as acts
from repairs.desk import Desk
from repairs.scope import visible
from repairs.views.acts import STATUS, why
from repairs.views.screen import act, at_desk, screen, show, tell
from repairs.words import gauge as gauges
from repairs.words import traits
from repairs.words.gauge import Reading
from repairs.words.marked import _
from workflows.errors import MakegoodError
from workflows.models import Demotion, Effect, Gauge, Tool, Workflow
from workflows.states import EffectState
from workflows.tools.http.literals import in_spec

MOST = 500  # tools on the page; who has more finds each by its name


@dataclasses.dataclass(frozen=True, slots=True)
class Ended:
    """A count of sends, with the query that shows its rows."""

    word: str
    outcome: str
    number: int
    query: str


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    tool: Tool
    what: str
    abilities: list[tuple[str, bool]]  # (word, whether it has it)
    autonomy: str
    sends: list[Ended]
    undoings: list[Ended]
    breaker: Reading


@screen
def tools(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    since = usage.window(now)
    counted = usage.counts(since, at_desk(request))
    measured = {gauge.tool: gauge for gauge in Gauge.objects.all()[: MOST + 1]}
    found = list(Tool.objects.filter(current=True).order_by("name")[: MOST + 1])
    return show(
        request,
        "console/tools.html",
        here="tools",
        now=now,
        rows=[row_of(tool, counted, measured.get(tool.name), now) for tool in found[:MOST]],
        more=len(found) > MOST,
        since=since,
        most=usage.MOST,
        workflows=Workflow.objects.filter(current=True).order_by("name").defer("spec")[:MOST],
    )


def row_of(tool: Tool, counted: usage.Counts, gauge: Gauge | None, now: dt.datetime) -> Row:
    profile = tool.profile
    ended = counted.get(tool.name, {})
    return Row(
        tool=tool,
        what=traits.class_words(str(profile.get("effect_class", ""))),
        abilities=abilities(tool.spec),
        autonomy=traits.AUTONOMY.get(str(profile.get("autonomy")), str(profile.get("autonomy"))),
        sends=ends(ended, undoing=False),
        undoings=ends(ended, undoing=True),
        breaker=gauges.breaker(tool.spec.get("limits") or {}, gauge, now),
    )


KEYS = {"native_key": _("key"), "natural_key": _("natural key")}


def abilities(spec: traits.Spec) -> list[tuple[str, bool]]:
    if traits.reads_only(spec):
        return []
    by = (spec.get("idempotency") or {}).get("by")
    looks = bool(spec.get("verify")) and traits.profile(spec).get("observability") == "authoritative_read"
    undoes = bool(spec.get("compensate"))
    return [
        (KEYS.get(str(by), _("no key")), by in KEYS),
        (_("look") if looks else _("no look"), looks),
        (_("undoing") if undoes else _("no undoing"), undoes),
    ]


def ends(counted: dict[tuple[bool, str], int], *, undoing: bool) -> list[Ended]:
    kind = "undoing" if undoing else "act"
    return [
        Ended(traits.END_WORDS[outcome], outcome, number, urlencode({"kind": kind, "outcome": outcome or "none"}))
        for outcome in traits.ENDS
        if (number := counted.get((undoing, outcome), 0))
    ]


@screen
def tool(request: HttpRequest, name: str) -> HttpResponse:
    """`?version=N` shows a version that is not the current one."""
    return show_tool(request, name, request.GET.get("version", ""))


def show_tool(request: HttpRequest, name: str, version: str, *, status: int = 200, **context: Any) -> HttpResponse:
    now = timezone.now()
    versions = list(versions_of(name))
    chosen = choose(versions, version)
    since = usage.window(now)
    desk = at_desk(request)
    ended = usage.counts(since, desk).get(name, {})
    now_busy = busy(name, desk)
    undone, verified = usage.undone(since, desk).get(name, (0, 0))
    gauge = Gauge.objects.filter(tool=name).first()
    limits = chosen.spec.get("limits") or {}
    return show(
        request,
        "console/tool.html",
        here="tools",
        status=status,
        now=now,
        tool=chosen,
        spec=in_spec(chosen.spec),
        versions=versions,
        promises=promises(chosen.spec),
        profile=profile_rows(chosen.profile),
        bounds=traits.bounds(chosen.spec),
        concurrent=limits.get("concurrent"),
        under_way=sum(row["n"] for row in now_busy if row["state"] == EffectState.DISPATCHED),
        minute=gauges.minute(limits, gauge, now),
        breaker=gauges.breaker(limits, gauge, now),
        since=since,
        most=usage.MOST,
        sends=ends(ended, undoing=False),
        undoings=ends(ended, undoing=True),
        undone=undone,
        verified=verified,
        unverified=undone - verified,
        waiting=[row for row in now_busy if row["state"] == EffectState.BLOCKED],
        used_by=Workflow.objects.filter(current=True, spec__steps__contains=[{"tool": name}]).defer("spec")[:50],
        demoted=demotion_of(chosen),
        proof=proof.wanted(desk, request.session, strong=True),
        may_withdraw=bool(desk.roles & acts.MAY_WITHDRAW),
        **{"error": "", "kept": "", **context},
    )


def demotion_of(chosen: Tool) -> Demotion | None:
    """What keeps the version's keys from being believed, and the effect where that was seen."""
    standing = Demotion.objects.filter(tool=chosen.name, version=chosen.version, lifted_at=None)
    return standing.select_related("effect").first()


def versions_of(name: str) -> Any:
    if "\x00" in name:
        raise Http404("There is no such tool.")
    return Tool.objects.filter(name=name).order_by("-version")[:MOST]


def choose(versions: list[Tool], wanted: str) -> Tool:
    """The version that was asked for, else the current one, else the newest."""
    found = [one for one in versions if str(one.version) == wanted] if wanted else versions
    if not found:
        raise Http404("There is no such tool, or no such version of it.")
    return next((one for one in found if one.current), found[0])


def promises(spec: traits.Spec) -> list[tuple[str, str]]:
    """What happens when it goes wrong, as pairs of a question and its answer."""
    asked = [
        (_("Can it be undone?"), traits.class_words(str(traits.profile(spec).get("effect_class", "")))),
        (_("How is success verified?"), traits.looked(spec)),
        (_("What keeps it from happening twice?"), traits.once(spec)),
        (_("What compensates it?"), traits.undone(spec)),
        (_("How is the undoing verified?"), traits.undoing_looked(spec)),
        (_("What remains?"), traits.remains(spec)),
        (_("Who repairs?"), str(traits.profile(spec).get("owner", ""))),
    ]
    return [(question, answer) for question, answer in asked if answer]


PROFILE: tuple[tuple[str, str, Mapping[str, str]], ...] = (
    ("effect_class", _("Class"), traits.CLASSES),
    ("access", _("Access"), traits.ACCESS),
    ("environment", _("Environment"), {}),
    ("observability", _("Observability"), traits.SEEN_BY),
    ("autonomy", _("Autonomy"), traits.AUTONOMY),
    ("privileges", _("Privileges"), {}),
    ("owner", _("Owner"), {}),
    ("customer_visible", _("Customer"), {"True": _("can see it"), "False": _("can't see it")}),
    ("residue", _("If it stands"), {}),
    ("function", _("Function"), {}),
    ("reliability", _("Reliability"), {}),
    ("modality", _("Modality"), {}),
)


def profile_rows(profile: dict[str, Any]) -> list[tuple[str, str, str]]:
    """(label, the manifest's word, what it means); a field that wasn't stated is left out."""
    rows: list[tuple[str, str, str]] = []
    for name, label, meaning in PROFILE:
        value = profile.get(name)
        if value is None or value == "":
            continue
        if isinstance(value, bool):
            rows.append((label, meaning[str(value)], ""))
        elif value == []:
            rows.append((label, _("none"), ""))
        else:
            text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            rows.append((label, traits.plainly(text), meaning.get(str(value), "")))
    return rows


def busy(name: str, desk: Desk) -> list[dict[str, Any]]:
    """How many effects of the tool are under way, and how many wait by why; beyond a thousand nobody counts."""
    going, held = EffectState.DISPATCHED.value, EffectState.BLOCKED.value
    # Each has an index of its own. What waits for its run and not for its tool isn't counted.
    either = Q(state=going) | Q(state=held, due_at__isnull=False) | Q(state=held, reason="hold")
    some = visible(desk, Effect).filter(either, tool__name=name)
    some = some.order_by()[:1000]
    rows = Effect.objects.filter(id__in=some.values("id")).values("state", "reason").annotate(n=Count("id"))
    return list(rows.order_by("-n"))  # type: ignore[arg-type]


@act
def change_version(request: HttpRequest, name: str, version: int, *, withdraw: bool) -> HttpResponse:
    """Withdraws a version, or lets it be called again."""
    chosen = choose(list(versions_of(name)), str(version))
    try:
        verb = acts.withdraw if withdraw else acts.restore
        verb(at_desk(request), chosen, why=why(request))
    except MakegoodError as error:
        status = STATUS.get(type(error), 400)
        return show_tool(request, name, str(version), status=status, error=error.detail, kept=why(request))
    gone = _("{tool} is withdrawn: nothing is sent by it any more.", tool=str(chosen))
    tell(request, gone if withdraw else _("{tool} may be called again.", tool=str(chosen)))
    return redirect(f"{reverse('tool', args=[name])}?version={version}")


@act
def believe(request: HttpRequest, name: str, version: int) -> HttpResponse:
    """Lifts the demotion of a version. What is sent twice on a promise that doesn't hold can't be taken back."""
    chosen = choose(list(versions_of(name)), str(version))
    try:
        proof.demand(request, at_desk(request), strong=True)
        acts.believe(at_desk(request), chosen, why=why(request))
    except MakegoodError as error:
        status = STATUS.get(type(error), 400)
        return show_tool(request, name, str(version), status=status, error=error.detail, kept=why(request))
    tell(request, _("The keys of {tool} are believed again, for what is sent from now on.", tool=str(chosen)))
    return redirect(f"{reverse('tool', args=[name])}?version={version}")


KINDS = {"": None, "act": False, "undoing": True}
SEEN = {"": None, "yes": True, "no": False}


@screen
def sends(request: HttpRequest, name: str) -> HttpResponse:
    """The sends behind a count: `?kind=act|undoing&outcome=`; `none` is a send without an answer so far. `?seen=yes|no`
    of undoings: the last send of each, by whether a look has shown it."""
    kind, outcome = request.GET.get("kind", ""), request.GET.get("outcome", "")
    seen = request.GET.get("seen", "")
    if kind not in KINDS or outcome not in ("", "none", *traits.ENDS) or seen not in SEEN:
        raise Http404("No send ends so.")
    chosen = choose(list(versions_of(name)), "")
    of = f"sends:{name}:{kind}:{outcome}:{seen}"
    start = keyset.read(request.GET.get("after", ""), of=of)
    at, after = start or (timezone.now(), None)
    since = usage.window(at)
    wanted = None if outcome == "" else "" if outcome == "none" else outcome
    found = usage.sends(since, at_desk(request), tool=name, undoing=KINDS[kind], outcome=wanted, seen=SEEN[seen])
    found = found.select_related("effect__step", "effect__run").defer("evidence", *HEAVY)
    return show(
        request,
        "console/tool_sends.html",
        here="tools",
        tool=chosen,
        page=keyset.page(found, order=("-id",), of=of, at=at, after=after),
        query=urlencode({"kind": kind, "outcome": outcome, "seen": seen}),
        seen=seen,
        kind=kind,
        outcome=traits.END_WORDS.get(wanted, "") if wanted is not None else "",
        since=since,
        most=usage.MOST,
    )


# Lists never load what can be large.
HEAVY = (
    *(f"effect__{name}" for name in ("arguments", "result", "before", "poll", "value", "blocked_by")),
    *(f"effect__step__{name}" for name in ("template", "arguments", "result")),
    *(f"effect__run__{name}" for name in ("input", "residue", "people_reasons")),
)

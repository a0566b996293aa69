"""Agents: what each may do and for whom, its keys without secrets, what became of its work, what it was denied."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from django.db import connection
from django.db.models import Count, Max, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from repairs import keyset
from repairs.acts import agent as acts
from repairs.roles import OPERATOR
from repairs.scope import one, visible
from repairs.views.acts import STATUS, why
from repairs.views.screen import act, at_desk, in_role, screen, show, tell
from repairs.words.marked import _
from workflows.errors import MakegoodError
from workflows.models import Agent, AgentKey, Decision, Run
from workflows.models.agent import ALL, ANY

LATEST = 8  # runs shown; the list of runs has all
COUNTED = 500  # runs whose states, and whose effects' states, are counted
SHOWN = 50  # denials and changes, the latest
KEYS = 100  # shown at most; who has more has forgotten to let go of some
NAMES = 200  # granted names shown


@screen
def agents(request: HttpRequest) -> HttpResponse:
    start = keyset.read(request.GET.get("after", ""), of="agents")
    at, after = start or (timezone.now(), None)
    still = Q(keys__revoked_at__isnull=True) & (Q(keys__expires_at__isnull=True) | Q(keys__expires_at__gt=at))
    found = visible(at_desk(request), Agent).annotate(
        open_keys=Count("keys", filter=still), last_used=Max("keys__last_used_at")
    )
    page = keyset.page(found, order=("name",), of="agents", at=at, after=after)
    return show(request, "console/agents.html", here="agents", page=page, rows=[(a, grants(a)[:6]) for a in page.rows])


@screen
def agent(request: HttpRequest, agent_id: uuid.UUID) -> HttpResponse:
    return page_of(request, agent_id)


@act
@in_role(OPERATOR)
def new_key(request: HttpRequest, agent_id: uuid.UUID) -> HttpResponse:
    form = request.POST
    whom, life = form.get("on_behalf_of", "").strip(), form.get("life", "")
    return made(
        request,
        agent_id,
        lambda desk, agent: acts.new_key(desk, agent, why=why(request), life=life, on_behalf_of=whom),
    )


@act
@in_role(OPERATOR)
def rotate_key(request: HttpRequest, agent_id: uuid.UUID, prefix: str) -> HttpResponse:
    overlap, life = request.POST.get("overlap", ""), request.POST.get("life", "")
    return made(
        request,
        agent_id,
        lambda desk, agent: acts.rotate_key(desk, key_of(agent, prefix), why=why(request), overlap=overlap, life=life),
    )


@act
@in_role(OPERATOR)
def revoke_key(request: HttpRequest, agent_id: uuid.UUID, prefix: str) -> HttpResponse:
    def verb(desk: Any, agent: Agent) -> str:
        acts.revoke_key(desk, key_of(agent, prefix), why=why(request))
        return _("Key {prefix}… opens nothing any more; requests that waited with it were refused.", prefix=prefix)

    return done(request, agent_id, verb)


@act
@in_role(OPERATOR)
def switch(request: HttpRequest, agent_id: uuid.UUID) -> HttpResponse:
    on = request.POST.get("to") == "on"

    def verb(desk: Any, agent: Agent) -> str:
        acts.switch(desk, agent, on=on, why=why(request))
        if on:
            return _("{agent} is switched on: its keys open again.", agent=agent.name)
        return _("{agent} is switched off: no key of it opens anything.", agent=agent.name)

    return done(request, agent_id, verb)


def key_of(agent: Agent, prefix: str) -> AgentKey:
    return one(AgentKey.objects.filter(agent=agent), prefix=prefix)


def made(request: HttpRequest, agent_id: uuid.UUID, verb: Callable[[Any, Agent], str]) -> HttpResponse:
    """Shows the key in the answer to this request and nowhere else: not in a message, which would be stored."""
    try:
        text = verb(at_desk(request), found(request, agent_id))
    except MakegoodError as error:
        return refusal(request, agent_id, error)
    return page_of(request, agent_id, made=text)


def done(request: HttpRequest, agent_id: uuid.UUID, verb: Callable[[Any, Agent], str]) -> HttpResponse:
    try:
        said = verb(at_desk(request), found(request, agent_id))
    except MakegoodError as error:
        return refusal(request, agent_id, error)
    tell(request, said)
    return redirect("agent", agent_id=agent_id)


def refusal(request: HttpRequest, agent_id: uuid.UUID, error: MakegoodError) -> HttpResponse:
    return page_of(request, agent_id, status=STATUS.get(type(error), 400), error=error, kept=why(request))


def found(request: HttpRequest, agent_id: uuid.UUID) -> Agent:
    return one(visible(at_desk(request), Agent), id=agent_id)


def page_of(request: HttpRequest, agent_id: uuid.UUID, *, status: int = 200, **context: Any) -> HttpResponse:
    """`made`: a key's text to be shown once; `error`, `kept`: a refusal, with the reason that was typed."""
    agent, now = found(request, agent_id), timezone.now()
    runs, effects = counts(agent)
    denied = Decision.objects.filter(agent=agent, verdict="deny").order_by("-id")
    return show(
        request,
        "console/agent.html",
        here="agents",
        status=status,
        now=now,
        agent=agent,
        grants=grants(agent)[:NAMES],
        rights=ALL,
        keys=[(key, key.state_at(now)) for key in agent.keys.order_by("-created_at")[:KEYS]],
        runs=runs,
        effects=effects,
        counted=COUNTED,
        latest=Run.objects.filter(agent=agent)
        .select_related("agent", "workflow")
        .defer("input", "residue", "people_reasons", "narrowed", "workflow__spec")[:LATEST],
        denied=denied.values("act", "rule", "reason", "at", "effect_id", "effect__run_id")[:SHOWN],
        acts=[(act, WORDS.get(act.what, act.what)) for act in agent.acts.order_by("-id")[:SHOWN]],
        may_act=at_desk(request).may_operate,
        lives=acts.LIVES,
        overlaps=acts.OVERLAPS,
        **{"error": None, "kept": "", "made": "", **context},
    )


WORDS = {
    "create": _("made"),
    "change": _("changed"),
    "new_key": _("key made"),
    "rotate_key": _("key rotated"),
    "revoke_key": _("key revoked"),
}


def grants(agent: Agent) -> list[tuple[str, tuple[str, ...]]]:
    """(a tool's name, "" for every one, its rights)."""
    return [("" if name == ANY else name, agent.rights(name)) for name in agent.tools]


def counts(agent: Agent) -> tuple[dict[str, int], dict[str, int]]:
    """(runs by state, effects by state) of the agent's latest runs. One query by the index of its runs."""
    found: dict[str, dict[str, int]] = {"run": {}, "effect": {}}
    with connection.cursor() as cursor:
        cursor.execute(COUNTS, [agent.id, COUNTED])
        for kind, state, number in cursor.fetchall():
            found[kind][state] = number
    return found["run"], found["effect"]


COUNTS = """
WITH newest AS MATERIALIZED (SELECT id, state FROM workflows_run WHERE agent_id = %s ORDER BY id DESC LIMIT %s)
SELECT 'run', state, count(*) FROM newest GROUP BY state
UNION ALL SELECT 'effect', e.state, count(*) FROM newest n JOIN workflows_effect e ON e.run_id = n.id GROUP BY e.state
ORDER BY 1, 3 DESC
"""

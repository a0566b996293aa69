"""/tools and /workflows: what the calling agent may use, in the form that a model's list of tools wants."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeVar

from django.db.models import Q, QuerySet
from django.http import HttpResponse
from rest_framework.request import Request

from workflows.api import documented, query, wire
from workflows.api.base import Endpoint, agent_of
from workflows.api.paging import Pages, render
from workflows.models import Agent, Tool, Workflow
from workflows.models.agent import ANY, Right

Declared = TypeVar("Declared", Tool, Workflow)
MEANS = {
    "read_only": "It changes nothing.",
    "reversible": "It can be undone.",
    "reversible_with_cost": "It can be undone at a cost.",
    "irreversible": "It can't be undone.",
}
# What an agent should know of a workflow before it starts one.
RULES = ("owner", "on_failure", "after_irreversible", "deadline", "gate")


class Tools(Endpoint):
    @documented.tools
    def get(self, request: Request) -> HttpResponse:
        usable = Tool.objects.filter(current=True).exclude(spec__profile__autonomy="forbidden")
        agent = agent_of(request)
        return _page(request, usable.exclude(_of_no_use(agent)), agent.tools, _tool)


class Workflows(Endpoint):
    @documented.workflows
    def get(self, request: Request) -> HttpResponse:
        return _page(request, Workflow.objects.filter(current=True), agent_of(request).workflows, _workflow)


def _of_no_use(agent: Agent) -> Q:
    """Tools that are granted without the right that their act takes; only their looks or undoing are."""
    found = Q(pk__in=[])
    for right, acts in ((Right.READ, READS), (Right.WRITE, ~READS)):
        has = {name: right in rights for name, rights in agent.narrowed.items()}
        found |= acts & Q(name__in=[name for name, granted in has.items() if not granted])
        if not has.get(ANY, True):
            found |= acts & ~Q(name__in=[name for name, granted in has.items() if granted])
    return found


READS = Q(spec__profile__effect_class="read_only")


def _page(
    request: Request,
    rows: QuerySet[Declared],
    granted: Collection[str],
    shape: Callable[[Declared], dict[str, Any]],
) -> HttpResponse:
    given = query.parameters(request, ("cursor", "limit"))
    agent: Agent = agent_of(request)
    pages = Pages(rows.model.__name__, agent, given)
    if ANY not in granted:
        rows = rows.filter(name__in=granted)
    if pages.after is not None:
        rows = rows.filter(name__gt=pages.after)
    page, following = pages.of(list(rows.order_by("name")[: pages.limit + 1]), lambda row: row.name)
    return wire.respond(render([shape(row) for row in page], following))


def _tool(tool: Tool) -> dict[str, Any]:
    profile = tool.profile
    words = [f"{tool.name}.", MEANS.get(profile.get("effect_class", ""), "")]
    return {
        "name": tool.name,
        "version": tool.version,
        "description": tool.spec.get("description") or " ".join(filter(None, words)),
        "input_schema": tool.spec.get("arguments", {"type": "object"}),
        "profile": profile,
    }


def _workflow(workflow: Workflow) -> dict[str, Any]:
    steps = [step["name"] for step in workflow.spec.get("steps", [])]
    text = f"Runs the steps {', '.join(steps)}." if steps else "A run whose steps you name yourself, one call each."
    return {
        "name": workflow.name,
        "version": workflow.version,
        "description": workflow.spec.get("description") or text,
        "input_schema": workflow.spec.get("input", {"type": "object"}),
        "profile": {name: workflow.spec.get(name) for name in RULES},
    }

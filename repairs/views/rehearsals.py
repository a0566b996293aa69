"""Rehearsals: what nobody has tried yet of each workflow, and where its failure story has gaps."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from repairs.views.screen import screen, show
from repairs.words.story import story
from workflows.models import Tool, Workflow

MOST = 500  # workflows on the page; who has more finds each under tools


@screen
def rehearsals(request: HttpRequest) -> HttpResponse:
    tools = {tool.name: (tool.version, tool.spec) for tool in Tool.objects.filter(current=True)}
    found = Workflow.objects.filter(current=True).order_by("name")[:MOST]
    rows = [(flow, [gap for line in story(flow.spec, tools) for gap in line.gaps]) for flow in found]
    rows.sort(key=lambda row: -len(row[1]))
    return show(request, "console/rehearsals.html", here="rehearsals", rows=rows)

"""A workflow version's failure story: what happens at each step when it goes wrong, and the gaps, named."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse

from repairs.views.screen import screen, show
from repairs.words.story import rules, steps_of, story
from workflows.models import Tool, Workflow


@screen
def workflow(request: HttpRequest, name: str, version: int) -> HttpResponse:
    if "\x00" in name or version >= 2**31:
        raise Http404("There is no such workflow.")
    found = Workflow.objects.filter(name=name, version=version).first()
    if found is None:
        raise Http404("There is no such workflow, or no such version of it.")
    names = [str(step.get("tool")) for step in steps_of(found.spec)]
    tools = {tool.name: (tool.version, tool.spec) for tool in Tool.objects.filter(name__in=names, current=True)}
    lines = story(found.spec, tools)
    return show(
        request,
        "console/workflow.html",
        here="tools",
        workflow=found,
        rules=rules(found.spec),
        lines=lines,
        gaps=sum(len(line.gaps) for line in lines),
        versions=Workflow.objects.filter(name=name).order_by("-version").values_list("version", flat=True)[:50],
    )

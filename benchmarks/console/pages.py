"""Every page of the console, with addresses of the loaded ledger. A page that isn't named here fails a test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib.admin import ModelAdmin
from django.urls import reverse

from repairs import worklist
from repairs.models import Batch, Case, Evidence
from repairs.site import site
from workflows.models import Agent, Approval, Budget, Effect, Policy, Run, Tool, Workflow

VALUES = ("arguments", "result")


def pages() -> Iterator[tuple[str, str]]:
    """(the page's name in the urls, an address of it)."""
    yield from fixed()
    yield from queue()
    yield from of_runs()
    yield from of_declared()
    yield from records()


def fixed() -> Iterator[tuple[str, str]]:
    names = ("home", "unchecked", "runs", "stops", "budgets", "policies", "policy-edit", "tools", "agents", "people")
    more = (
        "rehearsals",
        "reports",
        "reviews",
        "journal",
        "home-news",
        "account",
        "admin:index",
        "admin:password_change",
    )
    for name in (*names, *more):
        yield name, reverse(name)
    for view in ("decide", "decided", "mine"):
        yield "approvals", f"{reverse('approvals')}?view={view}"
    yield "admin:app_list", reverse("admin:app_list", args=["workflows"])


def queue() -> Iterator[tuple[str, str]]:
    case = Case.objects.filter(state="open").latest("number")
    narrowed = ("q=customer+77", "q=order-3000", f"cause={case.signature}", f"team={case.owner}", f"q={case.name}")
    for view in (*(view.name for view in worklist.VIEWS), "closed"):
        yield "queue", f"{reverse('queue')}?view={view}"
    for one in narrowed:
        yield "queue", f"{reverse('queue')}?{one}"
    batch = Batch.objects.latest("number")
    yield "batches", reverse("batches")
    for name in ("batch", "batch-progress"):
        yield name, reverse(name, args=[batch.id])
    yield "queue-news", f"{reverse('queue-news')}?view=all&at=2026-01-01T00:00:00Z"
    stuck = Effect.objects.filter(run=case.run, state="stuck").latest("id")
    yield "preview", reverse("preview", args=[case.number, "look_again", stuck.id])
    yield "preview-run", reverse("preview-run", args=[case.number, "turn_back"])
    evidence = Evidence.objects.select_related("act__case").latest("id")
    for name in ("evidence", "evidence-file"):
        yield name, reverse(name, args=[evidence.act.case.number, evidence.id])
    mine = Case.objects.filter(state="open", claimed_by__username="sees-all").latest("number")
    for name in ("hand-over-page", "remedy"):
        yield name, reverse(name, args=[mine.number])
    yield "read-back", reverse("read-back", args=[case.number])
    yield "queue-export", f"{reverse('queue-export')}?view=all"
    yield "runs-export", f"{reverse('runs-export')}?state=completed"
    for state in ("open", "waiting", "resolved"):
        yield "case", reverse("case", args=[Case.objects.filter(state=state).latest("number").number])


def of_runs() -> Iterator[tuple[str, str]]:
    run = Run.objects.filter(state="compensated").latest("id")
    other = Run.objects.exclude(external_id="").latest("id")
    states = ("completed", "stuck", "running", "open")
    for chosen in (*(f"state={state}" for state in states), "workflow=flow-3", f"external_id={other.external_id}"):
        yield "runs", f"{reverse('runs')}?{chosen}"
    for chosen in (
        f"subject={run.subject_id}",
        f"subject=customer:{run.subject_id}",
        "agent=agent-3",
        "agent=agent-40",
    ):
        yield "runs", f"{reverse('runs')}?{chosen}"
    yield "runs", f"{reverse('runs')}?state=failed&workflow=flow-2&agent=agent-7"
    for name in ("run", "run-news", "run-time", "run-journal", "run-export", "run-raw"):
        yield name, reverse(name, args=[run.id])
    effect = Effect.objects.filter(run=run, state="undone").latest("id")
    yield "effect", reverse("effect", args=[run.id, effect.id])
    for name in VALUES:
        yield f"effect-{name}", reverse(f"effect-{name}", args=[run.id, effect.id])
    yield "effect-before", reverse("effect-before", args=[run.id, effect.id])
    yield "approvals-watch", reverse("approvals-watch")
    approval = Approval.objects.filter(state="asked").latest("id")
    for name in ("approval", "approval-call", "approval-reading"):
        yield name, reverse(name, args=[approval.id])


def of_declared() -> Iterator[tuple[str, str]]:
    for agent in Agent.objects.filter(name__in=["agent-1", "agent-40"]):
        yield "agent", reverse("agent", args=[agent.id])
    for tool in Tool.objects.filter(name__in=["crm.contact", "chat.post"]):
        yield "tool", reverse("tool", args=[tool.name])
        for query in ("", "?kind=act&outcome=refused", "?kind=undoing&outcome=acknowledged"):
            yield "tool-sends", reverse("tool-sends", args=[tool.name]) + query
    workflow = Workflow.objects.get(name="flow-1")
    yield "workflow", reverse("workflow", args=[workflow.name, workflow.version])
    yield "policy", reverse("policy", args=[Policy.objects.latest("id").id])
    yield "budget", reverse("budget", args=[Budget.objects.get(owner="agent:agent-1").id])


def records() -> Iterator[tuple[str, str]]:
    for model, admin in site._registry.items():
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        yield f"{name}_changelist", reverse(f"{name}_changelist")
        yield f"{name}_export", reverse(f"{name}_export")
        row = model._default_manager.order_by("-pk").first()
        if row is None:
            continue
        yield f"{name}_change", reverse(f"{name}_change", args=[row.pk])
        yield from narrowed(name, admin, row)


def narrowed(name: str, admin: ModelAdmin[Any], row: Any) -> Iterator[tuple[str, str]]:
    for column in admin.shown.narrow if hasattr(admin, "shown") else ():
        if value := getattr(row, column):
            yield f"{name}_changelist", f"{reverse(f'{name}_changelist')}?{column}={value}"

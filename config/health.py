"""/health/live and /health/ready, for supervisors and load balancers: JSON, never cached, no login."""

from __future__ import annotations

from collections.abc import Callable

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

# name -> a check that returns "" when all is well, else one sentence; `register` adds to it.
CHECKS: dict[str, Callable[[], str]] = {}


# name -> what an operator should know although work can be taken, such as that something is frozen; "" when nothing.
NOTES: dict[str, Callable[[], str]] = {}


def register(name: str, check: Callable[[], str]) -> None:
    """Adds a check to /health/ready; called from an AppConfig's ready()."""
    CHECKS[name] = check


@never_cache
@require_safe
def live(request: HttpRequest) -> JsonResponse:
    """The process answers; says nothing of what it depends on, so that a database outage restarts nobody."""
    return JsonResponse({"status": "live"})


@never_cache
@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """200 when work can be taken: the database answers, its tables are those of this code, and every check agrees."""
    problems = {"database": database()}
    if not problems["database"]:  # the others ask it
        problems = {name: check() for name, check in CHECKS.items()}
    problems = {name: problem for name, problem in problems.items() if problem}
    said: dict[str, object] = {"status": "not ready" if problems else "ready", "problems": problems}
    if "database" not in problems and (notes := {name: told for name, note in NOTES.items() if (told := note())}):
        said["notes"] = notes
    return JsonResponse(said, status=503 if problems else 200)


def database() -> str:
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return "The database does not answer; doctor says more."
    if missing:
        return f"{len(missing)} migrations are not applied; run manage.py migrate."
    return ""

"""Names the app to Django, tells /health/ready of the queue, and plans the sweep once the tables are there."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.db.models.signals import post_migrate


class WorkflowsConfig(AppConfig):
    name = "workflows"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from config import health
        from config.house import disk
        from workflows import queue
        from workflows.authority import credentials, stops
        from workflows.tools import providers

        providers.use(settings.SECRET_PROVIDERS)
        health.NOTES["stops"] = stops.in_force
        health.NOTES["credentials"] = credentials.lost
        health.register("queue", queue.deaf)
        health.register("disk", disk.low)
        post_migrate.connect(plan_sweep, sender=self, dispatch_uid="plan-sweep")


def plan_sweep(**_: Any) -> None:
    from django.db import connection

    from workflows import queue

    if "django_q_schedule" in connection.introspection.table_names():
        queue.keep_sweeping()

"""recover [--json]: one sweep for workers that are gone. What they held becomes unknown; drains look at it."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from workflows.engine.recover import recover
from workflows.management.base import PlainCommand
from workflows.models import Effect


class Command(PlainCommand):
    help = "Find effects whose worker is gone; print which became unknown. Sends nothing, and assumes nothing done."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--restored", action="store_true", help="after a restore from a backup; not there yet")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *_args: Any, **options: Any) -> None:
        if options["restored"]:
            raise CommandError(
                "--restored does not exist yet. After a restore from a backup, keep the queue stopped: what happened"
                " since the backup is not in this database, and would be sent again. Plain `recover` is safe."
            )
        lost = recover(dead_holders=True)
        effects = Effect.objects.filter(id__in=lost).order_by("id").select_related("tool", "step")
        if options["json"]:
            self.stdout.write(json.dumps({"unknown": [_told(effect) for effect in effects]}))
            return
        for effect in effects:
            self.stdout.write(f"unknown  {effect.id}  {effect.tool} for step {effect.step.name}: {effect.detail}")
        self.stdout.write(f"{len(effects)} effects became unknown" + ("; they are looked at next" if effects else ""))


def _told(effect: Effect) -> dict[str, str]:
    return {
        "effect": str(effect.id),
        "run": str(effect.run_id),
        "step": effect.step.name,
        "tool": str(effect.tool),
        "detail": effect.detail,
    }

"""recover [--restored] [--json]: one sweep for workers that are gone: what they held becomes unknown, and is looked at.

With --restored everything but looks is frozen first, until an operator lifts that.
"""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandParser

from workflows.engine import restored
from workflows.engine.recover import recover
from workflows.management.base import PlainCommand
from workflows.management.commands.freeze import who_types
from workflows.models import Effect, Stop


class Command(PlainCommand):
    help = "Find effects whose worker is gone; print which became unknown. Sends nothing, and assumes nothing done."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--restored", action="store_true", help="after a restore: freeze all but looks first")
        parser.add_argument("--why", default="", help="with --restored: what was restored, from when")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *_args: Any, **options: Any) -> None:
        stop = restored.declare(by=who_types(), why=options["why"]) if options["restored"] else None
        lost = recover(dead_holders=True)
        effects = Effect.objects.filter(id__in=lost).order_by("id").select_related("tool", "step")
        if options["json"]:
            self.stdout.write(json.dumps({"unknown": [_told(effect) for effect in effects], **_stopped(stop)}))
            return
        if stop:
            self.stdout.write("Frozen: everything but looks, until an operator lifts it. Read what is due before that.")
        for effect in effects:
            self.stdout.write(f"unknown  {effect.id}  {effect.tool} for step {effect.step.name}: {effect.detail}")
        self.stdout.write(f"{len(effects)} effects became unknown" + ("; they are looked at next" if effects else ""))


def _stopped(stop: Stop | None) -> dict[str, str]:
    return {"stop": str(stop.id)} if stop else {}


def _told(effect: Effect) -> dict[str, str]:
    return {
        "effect": str(effect.id),
        "run": str(effect.run_id),
        "step": effect.step.name,
        "tool": str(effect.tool),
        "detail": effect.detail,
    }

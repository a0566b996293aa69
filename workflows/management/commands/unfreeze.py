"""unfreeze TARGET [NAME] | --id STOP, --why WHY [--json]: lets go at once what a freeze held."""

from __future__ import annotations

import json
import uuid
from typing import Any

from django.core.management.base import CommandError, CommandParser

from workflows.authority import stops
from workflows.errors import MakegoodError
from workflows.management.base import PlainCommand
from workflows.management.commands.freeze import who_types
from workflows.models.stop import Target


class Command(PlainCommand):
    help = "Lift every stop on a target, or the one of --id. Who froze it may need another person for that."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("target", nargs="?", choices=[target.value for target in Target])
        parser.add_argument("name", nargs="?", default="", help="which one; a subject as type:id")
        parser.add_argument("--id", type=uuid.UUID, help="one stop, as `freeze` without a target prints it")
        parser.add_argument("--why", default="", help="in a sentence")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *_args: Any, **options: Any) -> None:
        if (options["target"] is None) == (options["id"] is None):
            raise CommandError("Say what to lift: a target (and its name), or --id of one stop.")
        wanted = (options["target"], options["name"])
        ids = [options["id"]] if options["id"] else [s.id for s in stops.standing() if (s.target, s.name) == wanted]
        if not ids:
            raise CommandError(f"{' '.join(wanted).strip()} is not frozen; `freeze` without a target prints what is.")
        try:
            lifted = [stops.lift(one, by=who_types(), why=options["why"]) for one in ids]
        except MakegoodError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps({"lifted": [{"stop": str(s.id), "on": s.on} for s in lifted]}))
            return
        for stop in lifted:
            self.stdout.write(f"Lifted: {stop.on}, frozen since {stop.frozen_at.isoformat(timespec='minutes')}")

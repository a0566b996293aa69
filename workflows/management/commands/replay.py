"""replay RUN --check [--json]: rebuilds a run from its journal and compares it with its rows. Sends nothing."""

from __future__ import annotations

import dataclasses
import json
import uuid
from typing import Any

from django.core.management.base import CommandError, CommandParser

from workflows.errors import NotFound, shown
from workflows.management.base import PlainCommand
from workflows.replay.check import check

NOT_YET = ("resume", "simulate", "fork_from")


class Command(PlainCommand):
    help = "Tell a run again from its journal. Exits with 1 where rows and journal differ, naming each difference."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", metavar="RUN", help="the run's id")
        how = parser.add_mutually_exclusive_group(required=True)
        how.add_argument("--check", action="store_true", help="compare what the journal tells with the rows")
        how.add_argument("--resume", action="store_true", help="not there yet")
        how.add_argument("--simulate", action="store_true", help="not there yet")
        how.add_argument("--fork-from", metavar="STEP", help="not there yet")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *_args: Any, **options: Any) -> None:
        for name in NOT_YET:
            if options[name]:
                raise CommandError(f"--{name.replace('_', '-')} does not exist yet; --check does, and sends nothing")
        try:
            run_id = uuid.UUID(options["run"])
            summary, flaws = check(run_id)
        except ValueError as error:
            raise CommandError(
                f"RUN must be the id of a run, as the console and the API show it: {shown(options['run'])}"
            ) from error
        except NotFound as error:
            raise CommandError(error.detail) from error
        if options["json"]:
            counts = {"run": str(run_id), **dataclasses.asdict(summary), "ok": not flaws}
            self.stdout.write(json.dumps({**counts, "flaws": [dataclasses.asdict(flaw) for flaw in flaws]}))
        else:
            for flaw in flaws:
                self.stdout.write(f"BAD  {flaw}")
            self.stdout.write(
                f"{summary.entries:,} entries of {summary.subjects:,} subjects told again: "
                + (f"{len(flaws):,} differences" if flaws else "rows and journal agree")
            )
        if flaws:
            raise SystemExit(1)

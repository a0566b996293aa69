"""verify_journal [--json]: proves that nobody changed, swapped, left out or cut off anything of the journal."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from django.core.management.base import CommandParser

from workflows.management.base import PlainCommand
from workflows.proof import Flaw, verify

MOST_IN_JSON = 1000  # flaws told one by one; a broken journal may have as many as entries


class Command(PlainCommand):
    help = "Verify every chain and checkpoint of the journal. Exits with 1 where anything is wrong, naming it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *_args: Any, **options: Any) -> None:
        flaws: list[Flaw] = []

        def told(flaw: Flaw) -> None:
            if not options["json"]:
                self.stdout.write(f"BAD  {flaw}")
            elif len(flaws) < MOST_IN_JSON:
                flaws.append(flaw)

        summary = verify(told, lambda n: self.stderr.write(f"{n:,} entries read"))
        if options["json"]:
            told_in_json = {
                **dataclasses.asdict(summary),
                "ok": not summary.flaws,
                "flaw_count": summary.flaws,
                "flaws": [dataclasses.asdict(flaw) for flaw in flaws],
            }
            self.stdout.write(json.dumps(told_in_json))
        else:
            self.stdout.write(
                f"{summary.entries:,} entries of {summary.subjects:,} subjects and {summary.checkpoints:,} checkpoints"
                f" read; the words of {summary.erased:,} entries are erased; {_verdict(summary.flaws)}"
            )
        if summary.flaws:
            raise SystemExit(1)


def _verdict(flaws: int) -> str:
    return f"{flaws:,} flaws" if flaws else "all is as it was written"

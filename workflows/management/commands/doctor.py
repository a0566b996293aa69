"""`manage.py doctor`: says what is wrong with this installation, in plain sentences, and what to do."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from typing import Any

from config.house import doctor, production
from config.house.findings import Finding
from workflows.management.base import PlainCommand


class Command(PlainCommand):
    help = "Looks at settings, data folder, database, migrations, port and queue; names what is wrong and the way out."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--production", action="store_true", help="also what a try-out may leave out")
        parser.add_argument("--json", action="store_true", help="only JSON on stdout")
        parser.add_argument("--port", type=int, default=8000, help="the port that `up` shall use")

    def handle(self, *args: Any, **options: Any) -> None:
        findings = list(doctor.examine(options["port"], production=options["production"]))
        if options["production"]:
            findings += production.examine()
        ok = all(finding.ok for finding in findings)
        if options["json"]:
            checks = [dataclasses.asdict(finding) for finding in findings]
            self.stdout.write(json.dumps({"ok": ok, "checks": checks}))
        else:
            for finding in findings:
                self.stdout.write(_text(finding))
        if not ok:
            sys.exit(1)


def _text(finding: Finding) -> str:
    lines = [f"{'ok ' if finding.ok else 'BAD'}  {finding.check}: {finding.problem}"]
    if not finding.ok and finding.setting:
        lines.append(f"     setting: {finding.setting} = {finding.value or '(not set)'}")
    if not finding.ok and finding.way_out:
        lines.append(f"     way out: {finding.way_out}")
    return "\n".join(lines)

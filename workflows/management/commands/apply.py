"""apply FILE... [--check] [--json]: checks manifests whole, then writes the tools and workflows that they declare."""

from __future__ import annotations

import json
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from workflows import catalog
from workflows.errors import Flaw, Invalid
from workflows.management.base import PlainCommand
from workflows.tools.declared import declared
from workflows.tools.manifest import load
from workflows.tools.reading import PlacedFlaw


class Command(PlainCommand):
    help = "Apply manifests of tools and workflows: all of them, or none where anything is wrong."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="*", metavar="FILE", help="YAML, or JSON where the name ends in .json")
        parser.add_argument("--check", action="store_true", help="say what would change; write nothing")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            changes = apply(options["files"], check=options["check"])
        except Invalid as error:
            if not options["json"]:
                raise CommandError(str(error)) from error
            self.stdout.write(json.dumps({"detail": error.detail, "errors": [_told(flaw) for flaw in error.flaws]}))
            raise SystemExit(1) from error
        if options["json"]:
            told = {"added": changes.added, "changed": changes.changed, "unchanged": changes.unchanged}
            gaps = [dict(zip(("workflow", "step", "message"), gap, strict=True)) for gap in changes.gaps]
            self.stdout.write(json.dumps({**told, "gaps": gaps, "written": not options["check"]}))
            return
        for word, names in (("added", changes.added), ("changed", changes.changed), ("unchanged", changes.unchanged)):
            for name in names:
                self.stdout.write(f"{word:>9}  {name}")
        if not (changes.added or changes.changed or changes.unchanged):
            self.stdout.write("There is no tool and no workflow in it; nothing was changed.")
        for name, step, sentence in changes.gaps:
            self.stdout.write(f"{'gap':>9}  {name}, step {step}: {sentence}")
        if options["check"]:
            self.stdout.write("Checked only; nothing was written.")


def apply(files: list[str], *, check: bool) -> catalog.Changes:
    """Applies these files together with what Python classes in the apps' tools.py declare. Raises `Invalid`."""
    classes = declared(config.name for config in apps.get_app_configs())
    if not files and not classes:
        raise Invalid("There is nothing to apply.", [Flaw("FILE", None, "name one or more manifest files")])
    manifest = load(files, known_tools=catalog.known_tools(), env_names=settings.MAKEGOOD_ENV, declared=classes)
    return catalog.apply(manifest, check=check)


def _told(flaw: Flaw) -> dict[str, Any]:
    place = {"file": flaw.file, "line": flaw.line, "column": flaw.column} if isinstance(flaw, PlacedFlaw) else {}
    return {**place, "path": flaw.path, "value": flaw.value, "message": flaw.message}

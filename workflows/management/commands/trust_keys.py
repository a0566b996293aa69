"""Believes a tool's keys again after one key had made two objects: `trust_keys TOOL --why "..."`."""

from __future__ import annotations

import getpass
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from workflows.engine import trust
from workflows.errors import MakegoodError
from workflows.management.base import PlainCommand
from workflows.models import Demotion, Effect


class Command(PlainCommand):
    help = "Lifts the demotion of a tool's version: its keys are believed again. Without TOOL the demoted are listed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("tool", nargs="?", help="the tool's name")
        parser.add_argument("--tool-version", type=int, help="which version; the only demoted one if left out")
        parser.add_argument("--doubt", metavar="EFFECT", help="believe them no more instead: the effect that showed it")
        parser.add_argument("--why", default="", help="the reason, which history keeps")

    def handle(self, *args: Any, **options: Any) -> None:
        standing = Demotion.objects.filter(lifted_at=None).order_by("tool", "version")
        if not options["tool"]:
            for row in standing:
                self.stdout.write(f"{row} since {row.at:%Y-%m-%d %H:%M} UTC: {row.seen.get('how', '')}")
            if not standing:
                self.stdout.write("The keys of every tool that declares them are believed.")
            return
        if options["doubt"]:
            self._doubt(options)
            return
        versions = [row.version for row in standing if row.tool == options["tool"]]
        version = options["tool_version"] or (versions[0] if len(versions) == 1 else None)
        if version is None:
            there = ", ".join(f"v{v}" for v in versions) or "none"
            raise CommandError(f"name the version with --tool-version; demoted of {options['tool']}: {there}")
        try:
            row = trust.lift(options["tool"], version, by=operator(), why=options["why"])
        except MakegoodError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{row}: its keys are believed again")

    def _doubt(self, options: dict[str, Any]) -> None:
        """What a probe or the vendor told; the effect is where a person looks up why."""
        try:
            effect = Effect.objects.select_related("tool").get(id=options["doubt"], tool__name=options["tool"])
            row = trust.doubt(
                effect.tool.name, effect.tool.version, effect_id=effect.id, by=operator(), why=options["why"]
            )
        except (Effect.DoesNotExist, ValidationError) as error:
            raise CommandError(f"{options['doubt']!r} is no effect of {options['tool']}") from error
        except MakegoodError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{row}: its keys are not believed any more")


def operator() -> str:
    return f"operator {getpass.getuser()}"

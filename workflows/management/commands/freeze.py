"""freeze [TARGET [NAME]] --why WHY [--until …] [--json]: holds all new sends to it; bare, says what is frozen."""

from __future__ import annotations

import getpass
import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from workflows import rows
from workflows.authority import stops
from workflows.authority.until import until_of
from workflows.errors import MakegoodError
from workflows.management.base import PlainCommand
from workflows.models import Stop
from workflows.models.stop import Target


class Command(PlainCommand):
    help = (
        "Freeze a tool, an agent, a workflow, a subject (type:id) or everything: when this returns nothing new is sent;"
        " what had begun runs to its answer, and looks go on. Without a target: print what is frozen."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("target", nargs="?", choices=[target.value for target in Target])
        parser.add_argument("name", nargs="?", default="", help="which one; a subject as type:id")
        parser.add_argument("--why", default="", help="in a sentence, for whoever meets it")
        parser.add_argument("--until", default="", help="a length like 2h, or a moment like 2026-12-01T06:00Z")
        who = parser.add_mutually_exclusive_group()
        who.add_argument("--second-person", action="store_true", help="another person must lift it")
        who.add_argument("--one-person", action="store_true", help="whoever freezes it may lift it")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *_args: Any, **options: Any) -> None:
        if options["target"] is None:
            self._list(as_json=options["json"])
            return
        chosen = True if options["second_person"] else False if options["one_person"] else None
        try:
            until = until_of(options["until"], rows.now())
            frozen = stops.freeze(
                options["target"],
                options["name"],
                by=who_types(),
                why=options["why"],
                until=until,
                second_person=chosen,
            )
        except MakegoodError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps({**told(frozen.stop), "quiet": frozen.quiet}))
            return
        self.stdout.write(f"Frozen: {in_words(frozen.stop)}")
        self.stdout.write("Nothing new is sent to it from now on." if frozen.quiet else NOT_QUIET)

    def _list(self, *, as_json: bool) -> None:
        found = stops.standing()
        if as_json:
            self.stdout.write(json.dumps({"frozen": [told(stop) for stop in found]}))
            return
        for stop in found:
            self.stdout.write(f"{stop.id}  {in_words(stop)}")
        self.stdout.write(f"{len(found)} stops are in force" if found else "Nothing is frozen.")


NOT_QUIET = (
    "It is in force, but a worker has not let go of the stops' lock: calls that it was about to begin may still leave."
    " If it is asleep, end its process; its calls then never begin."
)


def who_types() -> str:
    """Whoever types on this machine is one person to the four eyes: a command can't prove more."""
    try:
        return f"command:{getpass.getuser()}"
    except (KeyError, OSError):  # a user without a name
        return "command"


def told(stop: Stop) -> dict[str, Any]:
    return {
        "stop": str(stop.id),
        "on": stop.on,
        "why": stop.reason,
        "by": stop.frozen_by,
        "at": stop.frozen_at.isoformat(),
        "until": stop.until.isoformat() if stop.until else None,
        "second_person": stop.second_person,
    }


def in_words(stop: Stop) -> str:
    until = f" until {stop.until.isoformat(timespec='minutes')}" if stop.until else ""
    return f"{stop.on} by {stop.frozen_by} at {stop.frozen_at.isoformat(timespec='minutes')}{until}: {stop.reason}"

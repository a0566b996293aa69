"""manage.py person NAME [--roles ROLE … | --teams TEAM … | --off | --on | --reset-second-factor] --why: changes one."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from repairs.acts import people
from repairs.roles import ROLES
from workflows.errors import MakegoodError
from workflows.management.base import PlainCommand


class Command(PlainCommand):
    help = "Change a person's roles or teams, switch a login off or on, or take a lost second factor away."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--roles", nargs="+", metavar="ROLE", help=f"these and no others, of: {', '.join(ROLES)}")
        parser.add_argument("--teams", nargs="*", metavar="TEAM", help="these and no others; none sees everything")
        switch = parser.add_mutually_exclusive_group()
        switch.add_argument("--off", dest="active", action="store_false", default=None, help="may not log in any more")
        switch.add_argument("--on", dest="active", action="store_true", default=None)
        parser.add_argument("--reset-second-factor", action="store_true", help="theirs is lost; they set up another")
        parser.add_argument("--why", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        name, why = options["name"], options["why"]
        given = {key: options[key] for key in ("roles", "teams", "active") if options[key] is not None}
        if not given and not options["reset_second_factor"]:
            raise CommandError("Say what to change: --roles, --teams, --off, --on or --reset-second-factor.")
        try:
            if given:
                people.change(name, by="command", why=why, **given)
            if options["reset_second_factor"]:
                people.reset_second_factor(name, by="command", why=why)
        except MakegoodError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Changed: {name}. It counts from their next request on.")

"""manage.py create_person NAME --roles repairer approver: makes a login, and prints its one-time password once."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from repairs.acts import people
from repairs.roles import ROLES
from workflows.errors import MakegoodError
from workflows.management.base import PlainCommand


class Command(PlainCommand):
    help = "Makes a login for a person, with roles, and prints its one-time password."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--roles", nargs="+", metavar="ROLE", required=True, help=f"of: {', '.join(ROLES)}")
        parser.add_argument("--teams", nargs="+", default=[], metavar="TEAM", help="see only their agents' work")
        parser.add_argument("--json", action="store_true", help="print JSON only")

    def handle(self, *args: Any, **options: Any) -> None:
        name, roles = options["name"], sorted(set(options["roles"]))
        try:
            password = people.create(name, roles, options["teams"], by="command", why="made by manage.py create_person")
        except MakegoodError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps({"person": name, "roles": roles, "password": password}))
            return
        self.stdout.write(f"{name} may log in now, as {' and '.join(roles)}.\nOne-time password: {password}")
        self.stdout.write("It is shown this once; the console asks for another at the first login.")

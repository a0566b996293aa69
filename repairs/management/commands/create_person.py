"""manage.py create_person NAME --roles repairer approver: makes a login, and prints its one-time password once."""

from __future__ import annotations

import json
import re
import secrets
from typing import Any

from django.contrib.auth.models import Group, User
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from repairs.models import Person
from repairs.roles import ROLES
from workflows.authority.teams import named
from workflows.errors import Invalid
from workflows.management.base import PlainCommand

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,79}")
WORDS = 16  # random bytes of a password that is typed once: nobody guesses it, everybody can copy it


class Command(PlainCommand):
    help = "Makes a login for a person, with roles, and prints its one-time password."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--roles", nargs="+", metavar="ROLE", required=True, help=f"of: {', '.join(ROLES)}")
        parser.add_argument("--teams", nargs="+", default=[], metavar="TEAM", help="see only their agents' work")
        parser.add_argument("--json", action="store_true", help="print JSON only")

    def handle(self, *args: Any, **options: Any) -> None:
        name, roles = options["name"], sorted(set(options["roles"]))
        teams = sorted(set(options["teams"]))
        password = create(name, roles, teams)
        if options["json"]:
            self.stdout.write(json.dumps({"person": name, "roles": roles, "password": password}))
            return
        self.stdout.write(f"{name} may log in now, as {' and '.join(roles)}.\nOne-time password: {password}")
        self.stdout.write("It is shown this once; the console asks for another at the first login.")


def create(name: str, roles: list[str], teams: list[str]) -> str:
    """Makes the login and returns its password. Raises `CommandError` that names what is wrong."""
    if not NAME.fullmatch(name):
        raise CommandError(f"NAME {name!r} can't be a login; use 1 to 80 letters, digits and . _ @ + - only.")
    if unknown := [role for role in roles if role not in ROLES]:
        raise CommandError(f"--roles {unknown[0]!r} is no role; there are {', '.join(ROLES)}.")
    try:
        belongs = [named(team, "--teams") for team in teams]
    except Invalid as error:
        raise CommandError(str(error)) from error
    with transaction.atomic():
        if User.objects.filter(username=name).exists():
            raise CommandError(f"{name} has a login already. A new password: manage.py changepassword {name}")
        password = secrets.token_urlsafe(WORDS)
        user = User.objects.create_user(name, password=password, is_staff=True)
        user.groups.set(Group.objects.filter(name__in=roles))
        Person.objects.create(user=user, must_change=True).teams.set(belongs)
    return password

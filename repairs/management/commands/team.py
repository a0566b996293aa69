"""team [NAME] [--under PARENT | --top] [--add LOGIN …] [--remove LOGIN …]: makes a team, places it, says who is in."""

from __future__ import annotations

import json
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from repairs.acts.person_act import record
from repairs.models import Person
from workflows.authority.agents import LONGEST_NAME
from workflows.authority.teams import named, place
from workflows.errors import Invalid
from workflows.management.base import PlainCommand
from workflows.models import Agent, Team


class Command(PlainCommand):
    help = "Make a team, put it under another, and say who is in it. Without a name, list the teams."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", nargs="?")
        where = parser.add_mutually_exclusive_group()
        where.add_argument("--under", metavar="PARENT", help="whose people see this team's work too")
        where.add_argument("--top", action="store_true", help="under no other team")
        parser.add_argument("--add", nargs="+", default=[], metavar="LOGIN", help="people who see this team's work")
        parser.add_argument("--remove", nargs="+", default=[], metavar="LOGIN", help="people who don't any more")
        parser.add_argument("--json", action="store_true", help="print JSON only")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["name"]
        try:
            told = [change(name, **{o: options[o] for o in ("under", "top", "add", "remove")})] if name else tree()
        except Invalid as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(told[0] if name else {"teams": told}))
            return
        for team in told:
            under = f" under {team['under']}" if team["under"] else ""
            people, agents = ", ".join(team["people"]) or "nobody", ", ".join(team["agents"]) or "none"
            self.stdout.write(f"{team['team']}{under}: {people}; agents: {agents}")


def change(name: str, *, under: str | None, top: bool, add: list[str], remove: list[str]) -> dict[str, Any]:
    """Raises `CommandError` or `Invalid`, having written nothing."""
    if name.strip() != name or not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise CommandError(
            f"NAME {name!r} must be 1 to {LONGEST_NAME} printable characters without spaces around them."
        )
    with transaction.atomic():
        parent = named(under, "--under") if under else None
        team, _ = Team.objects.get_or_create(name=name)
        if parent or top:
            place(team, parent)
        for login in add:
            move(person(login), team, into=True)
        for login in remove:
            move(person(login), team, into=False)
        return shown(team)


def move(one: Person, team: Team, *, into: bool) -> None:
    was = sorted(one.teams.values_list("name", flat=True))
    if (team.name in was) == into:
        return
    (one.teams.add if into else one.teams.remove)(team)
    teams = sorted({*was, team.name} if into else {*was} - {team.name})
    record(one.user.get_username(), "change", by="command", why="manage.py team", teams_were=was, teams=teams)


def person(login: str) -> Person:
    user = User.objects.filter(username=login).first()
    if user is None:
        raise CommandError(f"{login!r} has no login; make one: manage.py create_person {login!r} --roles ROLE")
    return Person.objects.get_or_create(user=user)[0]


def tree() -> list[dict[str, Any]]:
    return [shown(team) for team in Team.objects.select_related("parent").order_by("name")]


def shown(team: Team) -> dict[str, Any]:
    people = team.people.order_by("user__username").values_list("user__username", flat=True)
    agents = Agent.objects.filter(team=team.name).order_by("name").values_list("name", flat=True)
    under = team.parent.name if team.parent else ""
    return {"team": team.name, "under": under, "people": list(people), "agents": list(agents)}

"""create_agent NAME [--tools A B] [--workflows A B] [--json]: makes an agent and prints its first key, once."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import IntegrityError, transaction

from workflows.authority.keys import make_key
from workflows.errors import Flaw, Invalid
from workflows.models import Agent, Tool, Workflow
from workflows.models.agent import ANY

LONGEST_NAME, LONGEST_PURPOSE = 100, 500  # characters; their columns hold no more


class Command(BaseCommand):
    help = "Make an agent and print its key. The key is shown this one time; only its digest is kept."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--tools", nargs="+", default=[], metavar="TOOL", help="tools it may use; '*' for all")
        parser.add_argument(
            "--workflows", nargs="+", default=[], metavar="WORKFLOW", help="workflows it may start; '*' for all"
        )
        parser.add_argument("--team", default="operations", help="who answers for it (default: operations)")
        parser.add_argument("--purpose", default="", help="what it is for, in a sentence")
        parser.add_argument("--json", action="store_true", help='print {"agent": …, "key": …} and nothing else')

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            agent, key = create(
                options["name"],
                tools=options["tools"],
                workflows=options["workflows"],
                team=options["team"],
                purpose=options["purpose"],
            )
        except Invalid as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps({"agent": agent.name, "key": key}))
            return
        self.stdout.write(
            f"Agent {agent.name} may use tools: {_list(agent.tools)}; workflows: {_list(agent.workflows)}"
        )
        self.stdout.write(f"Its key, shown this once: {key}")


def create(name: str, *, tools: list[str], workflows: list[str], team: str, purpose: str) -> tuple[Agent, str]:
    """The agent and its key's text. Raises Invalid, having written nothing."""
    flaws = [
        *_flaws_of("NAME", name, LONGEST_NAME),
        *_flaws_of("--team", team, LONGEST_NAME),
        *(_flaws_of("--purpose", purpose, LONGEST_PURPOSE) if purpose else ()),
        *_unknown("--tools", tools, set(Tool.objects.filter(current=True).values_list("name", flat=True))),
        *_unknown("--workflows", workflows, set(Workflow.objects.filter(current=True).values_list("name", flat=True))),
    ]
    if flaws:
        raise Invalid("No agent was made.", flaws)
    try:
        with transaction.atomic():
            agent = Agent.objects.create(
                name=name, team=team, purpose=purpose, tools=sorted(set(tools)), workflows=sorted(set(workflows))
            )
            return agent, make_key(agent)
    except IntegrityError as error:
        flaw = Flaw("NAME", name, "is taken: choose another name; an agent's key can't be shown a second time")
        raise Invalid("No agent was made.", [flaw]) from error


def _flaws_of(path: str, text: str, most: int) -> list[Flaw]:
    if text.strip() == text and 0 < len(text) <= most and text.isprintable():
        return []
    return [Flaw(path, text, f"must be 1 to {most} printable characters without spaces around them")]


def _unknown(option: str, names: list[str], known: set[str]) -> list[Flaw]:
    """A misspelt grant would show only when the agent is refused, far from here."""
    way_out = "isn't applied: run manage.py apply first, or grant '*', which includes what is applied later"
    return [Flaw(option, name, way_out) for name in names if name != ANY and name not in known]


def _list(names: list[str]) -> str:
    return ", ".join(names) or "none"

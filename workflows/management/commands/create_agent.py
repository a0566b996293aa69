"""create_agent NAME [--tools A B] [--workflows A B] [--json]: makes an agent and prints its first key, once."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from workflows.authority import agents
from workflows.errors import Invalid
from workflows.management.base import PlainCommand
from workflows.models.team import DEFAULT


class Command(PlainCommand):
    help = "Make an agent and print its key. The key is shown this one time; only its digest is kept."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--tools", nargs="+", default=[], metavar="TOOL", help="tools it may use; '*' for all")
        parser.add_argument(
            "--workflows", nargs="+", default=[], metavar="WORKFLOW", help="workflows it may start; '*' for all"
        )
        parser.add_argument(
            "--grant",
            action="append",
            default=[],
            metavar="TOOL=RIGHT,…",
            help="a tool with some of read, write, compensate, verify; a tool named in --tools has all four",
        )
        parser.add_argument("--team", default=DEFAULT, help=f"who answers for it (default: {DEFAULT})")
        parser.add_argument("--purpose", default="", help="what it is for, in a sentence")
        parser.add_argument("--on-behalf-of", default="", metavar="PARTY", help="person:LOGIN or system:NAME")
        parser.add_argument("--json", action="store_true", help='print {"agent": …, "key": …} and nothing else')

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            agent, key = agents.create(
                options["name"],
                tools=options["tools"],
                workflows=options["workflows"],
                grants=options["grant"],
                team=options["team"],
                purpose=options["purpose"],
                on_behalf_of=options["on_behalf_of"],
            )
        except Invalid as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps({"agent": agent.name, "key": key}))
            return
        tools = [_told(name, agent.narrowed.get(name)) for name in agent.tools]
        self.stdout.write(f"Agent {agent.name} may use tools: {_list(tools)}; workflows: {_list(agent.workflows)}")
        self.stdout.write(f"Its key, shown this once: {key}")


def _told(name: str, rights: list[str] | None) -> str:
    return name if rights is None else f"{name} ({', '.join(rights)})"


def _list(names: list[str]) -> str:
    return ", ".join(names) or "none"

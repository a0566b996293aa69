"""change_agent NAME [--tools A B] [--grant TOOL=RIGHT,…] [--team T] [--off] --why …: changes what an agent may do."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from workflows.authority import agents
from workflows.errors import Invalid
from workflows.management.base import PlainCommand
from workflows.models import Agent

FIELDS = ("tools", "workflows", "team", "purpose", "on_behalf_of", "active")


class Command(PlainCommand):
    help = "Change what an agent may do, from its next dispatch on. What isn't named stays as it is."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--tools", nargs="*", metavar="TOOL", help="the tools it may use, in full; none takes all")
        parser.add_argument("--workflows", nargs="*", metavar="WORKFLOW", help="the workflows it may start, in full")
        parser.add_argument(
            "--grant",
            action="append",
            default=[],
            metavar="TOOL=RIGHT,…",
            help="adds a tool or narrows it to some of read, write, compensate, verify",
        )
        parser.add_argument("--team", help="who answers for it")
        parser.add_argument("--purpose", help="what it is for, in a sentence")
        parser.add_argument("--on-behalf-of", metavar="PARTY", help="person:LOGIN or system:NAME; '' for its team")
        switch = parser.add_mutually_exclusive_group()
        switch.add_argument("--off", dest="active", action="store_const", const=False, help="its keys open nothing")
        switch.add_argument("--on", dest="active", action="store_const", const=True, help="its keys open again")
        parser.add_argument("--why", required=True, help="kept with the change")
        parser.add_argument("--json", action="store_true", help="print JSON only")

    def handle(self, *_args: Any, **options: Any) -> None:
        agent = Agent.objects.filter(name=options["name"]).first()
        if agent is None:
            raise CommandError(f"There is no agent {options['name']!r}.")
        wanted = {name: options[name] for name in FIELDS if options[name] is not None}
        wanted |= {name: sorted(set(wanted[name])) for name in ("tools", "workflows") if name in wanted}
        try:
            changed = agents.change(agent, by="command", why=options["why"], grants=options["grant"], **wanted)
        except Invalid as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps({"agent": agent.name, "changed": changed}))
            return
        self.stdout.write(f"Changed of {agent.name}: {', '.join(changed) or 'nothing, it was so already'}")

"""tool_version withdraw | restore | waiting | let-go | give-up: versions of tools that may not be called any more.

What waits because of its version is decided one effect at a time (see docs/policies.md)."""

from __future__ import annotations

import json
import uuid
from typing import Any

from django.core.management.base import CommandError, CommandParser

from workflows.authority import versions
from workflows.errors import Flaw, Invalid, MakegoodError
from workflows.management.base import PlainCommand
from workflows.management.people import person_named
from workflows.models import Effect, Tool
from workflows.states import EffectState

ACTS = ("withdraw", "restore", "waiting", "let-go", "give-up")
MOST = 200  # rows told at once


class Command(PlainCommand):
    help = "Withdraw or restore a version of a tool, and decide about what waits because of its version."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("act", choices=ACTS)
        parser.add_argument(
            "what", nargs="?", help="a tool like 'crm.create v2' (a name: its current version), or an effect"
        )
        parser.add_argument("--by", metavar="LOGIN", help="who does it")
        parser.add_argument("--why", default="", help="why, in a sentence")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            told = self._waiting() if options["act"] == "waiting" else self._decide(options)
        except MakegoodError as error:
            raise CommandError(json.dumps({"detail": str(error)}) if options["json"] else str(error)) from error
        lines = told.pop("lines")
        self.stdout.write(json.dumps(told) if options["json"] else "\n".join(lines))

    def _waiting(self) -> dict[str, Any]:
        found = Effect.objects.filter(state=EffectState.BLOCKED.value, reason="version").select_related("tool")
        rows = [
            {"effect": str(e.id), "run": str(e.run_id), "tool": str(e.tool), "is": e.blocked_by[0].get("is", "")}
            for e in found.order_by("id")[:MOST]
        ]
        lines = [f"{row['effect']}  {row['tool']}: {row['is']}" for row in rows]
        return {"waiting": rows, "lines": lines or ["Nothing waits because of its tool's version."]}

    def _decide(self, options: dict[str, Any]) -> dict[str, Any]:
        by, why, what = person_named(options["by"]), options["why"], options["what"] or ""
        if options["act"] in ("withdraw", "restore"):
            tool = _tool(what)
            act = versions.withdraw if options["act"] == "withdraw" else versions.restore
            act(tool, by=by, why=why)
            said = (
                "is withdrawn: nothing is sent by it any more"
                if options["act"] == "withdraw"
                else "may be called again"
            )
            return {"tool": str(tool), "act": options["act"], "lines": [f"{tool} {said}."]}
        decide = versions.let_go if options["act"] == "let-go" else versions.give_up
        effect = decide(_effect(what), by=by, why=why)
        return {"effect": str(effect.id), "state": effect.state, "lines": [f"{effect.id} is {effect.state}."]}


def _tool(what: str) -> Tool:
    name, _, number = what.rpartition(" v")
    named = Tool.objects.filter(name=name or what)
    exact = bool(name) and number.isdigit() and len(number) < 10
    found = (named.filter(version=int(number)) if exact else named.filter(current=True)).first()
    if found is None:
        known = ", ".join(str(tool) for tool in Tool.objects.order_by("name", "version")[:20]) or "none"
        raise Invalid("There is no such tool.", [Flaw("what", what, f"there are {known}")])
    return found


def _effect(what: str) -> uuid.UUID:
    try:
        return uuid.UUID(what)
    except ValueError:
        raise Invalid(
            "There is no such effect.", [Flaw("what", what, "must be an effect's id (tool_version waiting)")]
        ) from None

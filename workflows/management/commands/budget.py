"""budget [OF [NAME]] [--money EUR=5000] [--calls N] … [--per day] --why WHY [--json]: sets limits; bare, lists them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandError, CommandParser

from workflows.authority import costs, raising
from workflows.errors import Flaw, Invalid, MakegoodError
from workflows.management.base import PlainCommand
from workflows.management.commands.freeze import who_types
from workflows.models import Budget
from workflows.models.budget import OWNERS
from workflows.policies.spending import CURRENCY, EVER, LENGTHS, TIME, said

COUNTS = ("calls", "effects", "customers", "seconds")
NONE = "none"
LONGEST_NUMBER = 16  # digits; the limits themselves are checked where they are written


class Command(PlainCommand):
    help = (
        "Limit what an agent, a tool, a workflow, a run or all together may spend. What gives less holds at once; what"
        " gives more is asked for, and a second person confirms it in the console. Without arguments: list budgets."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("of", nargs="?", choices=OWNERS)
        parser.add_argument("name", nargs="?", default="", help="which one; none for all")
        amounts = f"a whole number, or {NONE} to limit it no more"
        parser.add_argument("--money", nargs="+", default=[], metavar="EUR=5000", help="minor units, or EUR=none")
        for name in COUNTS:
            parser.add_argument(f"--{name}", metavar="N", help=amounts)
        parser.add_argument("--per", default=EVER, choices=[EVER, *LENGTHS], help="of calendar time in UTC")
        parser.add_argument(
            "--worst",
            nargs="+",
            default=[],
            metavar="EUR=100",
            help="of a tool: what an act of unknown cost is taken for",
        )
        parser.add_argument("--looks", metavar="N", help="of a tool: calls more that looks at each of its acts cost")
        parser.add_argument("--why", default="", help="in a sentence; whoever confirms it reads this")
        parser.add_argument("--json", action="store_true", help="print JSON and nothing else")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            if options["of"] is None:
                self._list(as_json=options["json"])
            elif options["worst"] or options["looks"] is not None:
                self._costs(options)
            else:
                self._change(options)
        except MakegoodError as error:
            raise CommandError(str(error)) from error

    def _change(self, options: dict[str, Any]) -> None:
        owner = f"{options['of']}:{options['name']}"
        budget, asked = raising.change(owner, options["per"], amounts_of(options), by=who_types(), why=options["why"])
        waits = asked is not None and asked.state == "asked"
        if options["json"]:
            known = {"change": str(asked.id), "state": asked.state} if asked else {"change": None, "state": "done"}
            self.stdout.write(json.dumps({**told(budget), **known}))
        elif waits:
            self.stdout.write(
                f"Asked for: {budget} keeps {in_words(budget)} until a second person confirms it: {url(budget)}"
            )
        else:
            self.stdout.write(f"{budget}: {in_words(budget)}")

    def _costs(self, options: dict[str, Any]) -> None:
        if options["of"] != "tool":
            raise Invalid(raising.NOTHING, [Flaw("of", options["of"], "--worst and --looks are of a tool")])
        worst = dict(_money("--worst", options["worst"]))
        cost = costs.set_cost(
            options["name"],
            worst={unit: amount for unit, amount in worst.items() if amount is not None} if worst else None,
            looks=None if options["looks"] is None else _whole("--looks", options["looks"]) or 0,
            by=who_types(),
            why=options["why"],
        )
        if options["json"]:
            self.stdout.write(json.dumps({"tool": cost.tool, "worst": cost.worst, "looks": cost.looks}))
            return
        worst_said = ", ".join(said(unit, amount) for unit, amount in cost.worst.items())
        self.stdout.write(
            f"Where its cost isn't known, {cost.tool} is taken for {worst_said or 'all that is allowed'}."
        )
        self.stdout.write(f"Each send is taken for {said('calls', 1 + cost.looks)}.")

    def _list(self, *, as_json: bool) -> None:
        found = Budget.objects.exclude(owner__startswith="run:").order_by("owner", "per")
        if as_json:
            self.stdout.write(json.dumps({"budgets": [told(budget) for budget in found]}))
            return
        for budget in found:
            self.stdout.write(f"{budget}: {in_words(budget)}")
        if not found:
            self.stdout.write("No budget is set: agents, tools and workflows may spend what their policy allows.")


def amounts_of(options: dict[str, Any]) -> dict[str, int | None]:
    """By unit; None takes a limit away. Seconds become milliseconds. Raises `Invalid`."""
    found = dict(_money("--money", options["money"]))
    for name in COUNTS:
        if options[name] is not None:
            amount = _whole(f"--{name}", options[name])
            unit = TIME if name == "seconds" else name
            found[unit] = amount * 1000 if unit == TIME and amount is not None else amount
    return found


def _money(option: str, texts: Iterable[str]) -> Iterable[tuple[str, int | None]]:
    for text in texts:
        currency, equals, amount = text.partition("=")
        if not equals or not CURRENCY.fullmatch(currency):
            raise Invalid(raising.NOTHING, [Flaw(option, text, "must be like EUR=5000, in minor units")])
        yield currency, _whole(option, amount)


def _whole(option: str, text: str) -> int | None:
    if text == NONE:
        return None
    if not (text.isascii() and text.isdigit()) or len(text) > LONGEST_NUMBER:
        raise Invalid(raising.NOTHING, [Flaw(option, text, f"must be a whole number, or {NONE}")])
    return int(text)


def told(budget: Budget) -> dict[str, Any]:
    return {
        "budget": str(budget.id),
        "of": budget.kind,
        "name": budget.name,
        "per": budget.per,
        "limits": budget.limits,
        "used": budget.used,
        "reserved": budget.reserved,
        "aside": budget.aside,
        "window": budget.window.isoformat() if budget.window else None,
    }


def in_words(budget: Budget) -> str:
    book = budget.book()
    parts = [f"{said(unit, limit)} ({said(unit, book.taken(unit))} taken)" for unit, limit in book.limits.items()]
    return ", ".join(parts) or "no limit"


def url(budget: Budget) -> str:
    return f"/budgets/{budget.id}/"

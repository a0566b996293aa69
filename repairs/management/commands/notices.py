"""notices [--test]: who is told, what waits and what could not be sent; with --test one message to each receiver."""

from __future__ import annotations

import json
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.db.models import Count

from repairs.models.notice import Notice, NoticeState
from repairs.notices import outside
from repairs.roles import ROLES
from workflows.management.base import PlainCommand
from workflows.models import Team

TEST = ("Makegood: a test", "This is a test. Whoever reads it will be told when Makegood needs somebody.")


class Command(PlainCommand):
    help = "Say who is told by mail, chat or web hook, and what came of it. With --test, tell each receiver something."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--test", action="store_true", help="send one message to each receiver now")
        parser.add_argument("--json", action="store_true", help="print JSON only")

    def handle(self, *args: Any, **options: Any) -> None:
        said = outside.deliver(dict.fromkeys(settings.NOTICES, TEST)) if options["test"] else {}
        teams = set(Team.objects.values_list("name", flat=True))
        told = []
        for receiver in settings.NOTICES:
            known = receiver.name in ROLES or receiver.name in teams
            one = {"name": receiver.name, "scheme": receiver.scheme, "known": known, **counts(receiver.key)}
            if options["test"]:
                one |= {"test": said[receiver] or "sent"}
            told.append(one)
        if options["json"]:
            self.stdout.write(json.dumps({"receivers": told, "links": settings.MAKEGOOD_URL}))
        else:
            self.print(told)
        if any(said.values()):
            sys.exit(1)

    def print(self, told: list[dict[str, Any]]) -> None:
        if not told:
            self.stdout.write("Nobody is told: set MAKEGOOD_NOTICES to pairs of a role or team and an address.")
        for one in told:
            unknown = "" if one["known"] else f"; there is no role and no team {one['name']!r}"
            tested = f"; test: {one['test']}" if "test" in one else ""
            failed = f", {one['failed']} failed ({one['why']})" if one["failed"] else ""
            counted = f"{one['waiting']} waiting, {one['sent']} sent{failed}"
            self.stdout.write(f"{one['name']} by {one['scheme']}: {counted}{unknown}{tested}")
        if told and not settings.MAKEGOOD_URL:
            self.stdout.write("Messages have no links: MAKEGOOD_URL is not set.")


def counts(key: str) -> dict[str, Any]:
    """Of the last 30 days, which is all that is kept."""
    found = dict(Notice.objects.filter(to=key).order_by().values_list("state").annotate(Count("id")))
    last = Notice.objects.filter(to=key, state=NoticeState.FAILED.value).order_by("-id").first()
    return {name: found.get(name, 0) for name in ("waiting", "sent", "failed")} | {"why": last.why if last else ""}

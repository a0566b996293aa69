"""credential [NAME …] [--json]: brings a grant of an outside system, whose tokens the engine renews; bare, lists."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from workflows.authority.bringing import Brought, bring
from workflows.errors import MakegoodError
from workflows.management.base import PlainCommand
from workflows.management.commands.freeze import who_types
from workflows.models import Credential


class Command(PlainCommand):
    help = (
        "Bring an OAuth grant under a NAME that manifests use as `auth: {oauth: NAME}`: the first one, or a new one"
        " after it was lost; what waits for it goes on. A refresh token is read from a file or from standard input,"
        " never from the command line, which others can see. Without a name: list them. No token is ever printed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", nargs="?")
        parser.add_argument("--token-url", help="the address of the token endpoint")
        parser.add_argument("--client", help="the client's id there")
        parser.add_argument("--client-secret", metavar="SECRET", help="the name of its secret, as in secret('SECRET')")
        parser.add_argument("--scope", help="asked for with each token")
        parser.add_argument("--owner", help="who is told when it is lost (default: operations)")
        grant = parser.add_mutually_exclusive_group()
        grant.add_argument("--refresh-token", metavar="FILE", help="a file that holds it; - for standard input")
        grant.add_argument("--client-credentials", action="store_true", help="the client itself is the grant")
        use = parser.add_mutually_exclusive_group()
        use.add_argument("--once", action="store_true", help="a refresh token serves once (default, and safe)")
        use.add_argument("--again", action="store_true", help="the same refresh token serves again and again")
        parser.add_argument("--why", default="", help="in a sentence")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *_args: Any, **options: Any) -> None:
        if options["name"] is None:
            self._list(as_json=options["json"])
            return
        if not options["refresh_token"] and not options["client_credentials"]:
            raise CommandError("Say which grant: --refresh-token FILE (- for standard input) or --client-credentials.")
        new = Brought(
            refresh=None if options["client_credentials"] else _read(options["refresh_token"]),
            token_url=options["token_url"],
            client=options["client"],
            secret=options["client_secret"],
            scope=options["scope"],
            owner=options["owner"],
            rotates=True if options["once"] else False if options["again"] else None,
        )
        try:
            row = bring(options["name"], new, by=who_types(), why=options["why"])
        except MakegoodError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(told(row)))
            return
        self.stdout.write(f"Kept: credential {row.name} of {row.owner}. The next drain asks for its first token.")

    def _list(self, *, as_json: bool) -> None:
        found = list(Credential.objects.all())
        if as_json:
            self.stdout.write(json.dumps({"credentials": [told(row) for row in found]}))
            return
        for row in found:
            self.stdout.write(f"{row.name}  {row.state}  {row.owner}" + (f"  {row.why}" if row.why else ""))
        if not found:
            self.stdout.write("No credential was brought yet.")


def _read(place: str) -> str:
    try:
        text = sys.stdin.read() if place == "-" else Path(place).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"--refresh-token {place}: {error}") from error
    return text.strip()


def told(row: Credential) -> dict[str, Any]:
    return {
        "credential": row.name,
        "state": row.state,
        "owner": row.owner,
        "grant": row.grant,
        "why": row.why,
        "tokens": row.generation,
        "expires_at": row.expires_at.isoformat() if row.expires_at else None,
    }

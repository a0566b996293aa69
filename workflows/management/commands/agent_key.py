"""agent_key new|rotate|revoke|list AGENT …: an agent's keys. A key is printed once; what is listed opens nothing."""

from __future__ import annotations

import argparse
import datetime as dt
import json
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone
from pydantic_core import PydanticCustomError

from workflows import rows
from workflows.authority import agents, keys
from workflows.errors import Invalid
from workflows.management.base import PlainCommand
from workflows.models import Agent, AgentKey
from workflows.tools.manifest.fields import some_seconds

OVERLAP = "24h"  # until a key that is rotated ends: time for a deployment, and not for forgetting
BY = "command"


def span(text: str) -> dt.timedelta:
    try:
        return dt.timedelta(seconds=some_seconds(text))
    except PydanticCustomError as error:
        raise argparse.ArgumentTypeError(f"{text!r} {error.message()}") from error


class Command(PlainCommand):
    help = "Make, rotate, revoke and list the keys of an agent."

    def add_arguments(self, parser: CommandParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True, metavar="new|rotate|revoke|list")
        new = acts.add_parser("new", help="one more key; the others stay")
        new.add_argument(
            "--on-behalf-of", default="", metavar="PARTY", help="person:LOGIN or system:NAME, for this key"
        )
        rotate = acts.add_parser("rotate", help="a new key; the old one opens a while longer")
        rotate.add_argument("--overlap", type=span, default=span(OVERLAP), help=f"how much longer (default: {OVERLAP})")
        revoke = acts.add_parser("revoke", help="ends a key now, for requests that wait too")
        listed = acts.add_parser("list", help="its keys, without their secrets")
        for one in (new, rotate, revoke, listed):
            one.add_argument("agent", metavar="AGENT")
            one.add_argument("--json", action="store_true", help="print JSON only")
        for one in (rotate, revoke):
            one.add_argument("key", metavar="KEY", help="its first eight characters after mg_, or all of it")
        for one in (new, rotate):
            one.add_argument("--expires", type=span, metavar="TIME", help="30d, 12h; without it, never")
        for one in (new, rotate, revoke):
            one.add_argument("--why", default="", required=one is revoke, help="kept with the act")

    def handle(self, *_args: Any, **options: Any) -> None:
        agent = Agent.objects.filter(name=options["agent"]).first()
        if agent is None:
            raise CommandError(f"There is no agent {options['agent']!r}.")
        try:
            self._print(options["json"], *getattr(self, f"do_{options['act']}")(agent, options))
        except Invalid as error:
            raise CommandError(str(error)) from error

    def do_new(self, agent: Agent, options: dict[str, Any]) -> tuple[Any, list[str]]:
        agents.check_party(options["on_behalf_of"])
        life, whom = options["expires"], options["on_behalf_of"]
        end = rows.now() + life if life else None
        text = keys.new_key(agent, by=BY, why=options["why"], expires_at=end, for_whom=whom)
        return {"agent": agent.name, "key": text}, [f"A key of {agent.name}, shown this once: {text}"]

    def do_rotate(self, agent: Agent, options: dict[str, Any]) -> tuple[Any, list[str]]:
        old = self._key(agent, options["key"])
        overlap, life = options["overlap"], options["expires"]
        text = keys.rotate_key(old, by=BY, why=options["why"], overlap=overlap, life=life)
        old.refresh_from_db()
        assert old.expires_at is not None
        until = old.expires_at.isoformat(timespec="seconds")
        lines = [f"A key of {agent.name}, shown this once: {text}", f"Key {old} opens until {until}."]
        return {"agent": agent.name, "key": text, "old": old.prefix, "old_ends": until}, lines

    def do_revoke(self, agent: Agent, options: dict[str, Any]) -> tuple[Any, list[str]]:
        key = self._key(agent, options["key"])
        keys.revoke_key(key, by=BY, why=options["why"])
        return {"agent": agent.name, "revoked": key.prefix}, [f"Key {key} of {agent.name} opens nothing any more."]

    def do_list(self, agent: Agent, options: dict[str, Any]) -> tuple[Any, list[str]]:
        now = timezone.now()
        found = [_shown(key, now) for key in agent.keys.order_by("created_at")]
        lines = [f"{key['prefix']}  {key['state']:8}  {_dates(key)}" for key in found]
        return {"agent": agent.name, "keys": found}, lines or [f"{agent.name} has no key."]

    def _key(self, agent: Agent, text: str) -> AgentKey:
        key = agent.keys.filter(prefix=keys.prefix_of(text)).first()
        if key is None:
            raise CommandError(f"{agent.name} has no key {text[:8]!r}; agent_key list {agent.name} shows those it has.")
        return key

    def _print(self, as_json: bool, data: Any, lines: list[str]) -> None:
        self.stdout.write(json.dumps(data) if as_json else "\n".join(lines))


def _shown(key: AgentKey, now: dt.datetime) -> dict[str, Any]:
    names = ("created_at", "expires_at", "revoked_at", "last_used_at")
    moments = {name: getattr(key, name) for name in names}
    told = {name: at.isoformat(timespec="seconds") if at else None for name, at in moments.items()}
    return {"prefix": key.prefix, "state": key.state_at(now), "on_behalf_of": key.on_behalf_of, **told}


def _dates(key: dict[str, Any]) -> str:
    words = {"created_at": "made", "expires_at": "expires", "revoked_at": "revoked", "last_used_at": "last used"}
    told = [f"{word} {key[name]}" for name, word in words.items() if key[name]]
    return ", ".join([*told, *([f"for {key['on_behalf_of']}"] if key["on_behalf_of"] else [])])

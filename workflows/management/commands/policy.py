"""policy check | draft | dry-run | activate | discard | show | history: what is allowed at the door.

The same steps as in the console: a draft, a dry run over past decisions, a second person, a time."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from workflows.authority import dry_run, policies, policy
from workflows.authority.until import moment_of
from workflows.errors import Flaw, Invalid, MakegoodError, NotFound
from workflows.management.base import PlainCommand
from workflows.management.people import person_named
from workflows.models import Policy
from workflows.tools.reading import PlacedFlaw

ACTS = ("check", "draft", "dry-run", "activate", "discard", "show", "history")


class Command(PlainCommand):
    help = "Check, draft, try, activate and show versions of the policy that decides about every act."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("act", choices=ACTS)
        parser.add_argument("what", nargs="?", help="a file (- for standard input), or a version like 'starter v2'")
        parser.add_argument("--shipped", metavar="NAME", help="instead of a file: a text that ships (starter, careful)")
        parser.add_argument("--by", metavar="LOGIN", help="who does it; needed for draft, dry-run, activate, discard")
        parser.add_argument("--why", default="", help="why, for whoever reads the history")
        parser.add_argument("--at", metavar="TIME", help="activate: from when on, as 2026-01-31T08:00+01:00")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            told, lines = getattr(self, f"_{options['act'].replace('-', '_')}")(options)
        except MakegoodError as error:
            if not options["json"]:
                raise CommandError(str(error)) from error
            self.stdout.write(json.dumps({"detail": error.detail, "errors": [_flaw(flaw) for flaw in error.flaws]}))
            raise SystemExit(1) from error
        self.stdout.write(json.dumps(told) if options["json"] else "\n".join(lines))

    def _check(self, options: dict[str, Any]) -> tuple[Any, list[str]]:
        text, file = _text(options)
        checked = policy.check(text, file=file)
        examples = policy.tried(checked)
        if flaws := [*policy.flaws(checked), *policies.impossible(checked)]:
            raise Invalid(f"{file} is sound, but it could not be activated", flaws)
        told = {"policy": checked.name, "digest": checked.digest, "examples": len(examples)}
        return told, [f"{checked.name}: sound, {len(examples)} examples hold. Nothing was written."]

    def _draft(self, options: dict[str, Any]) -> tuple[Any, list[str]]:
        text, file = _text(options)
        made = policies.draft(text, by=person_named(options["by"]), why=options["why"], file=file)
        return shape(made), [f"{made} is a draft. Try it: manage.py policy dry-run '{made}' --by LOGIN"]

    def _dry_run(self, options: dict[str, Any]) -> tuple[Any, list[str]]:
        draft = _version(options)
        found = dry_run.dry_run(draft.id, by=person_named(options["by"]))
        lines = [
            f"{found.asked} past decisions asked again ({found.unreadable} can't be told any more).",
            f"Stricter: {found.stricter}. Looser: {found.looser}.",
            *(
                f"  {one['at'][:16]}  {one['act']}: {one['was']['verdict']} -> {one['would']['verdict']}"
                f" by {one['would']['rule']}"
                for one in found.differences
            ),
        ]
        return dataclasses.asdict(found), lines

    def _activate(self, options: dict[str, Any]) -> tuple[Any, list[str]]:
        made = policies.activate(_version(options).id, by=person_named(options["by"]), at=_at(options))
        return shape(made), [f"{made} is in force from {made.active_from:%Y-%m-%d %H:%M:%S} UTC on."]

    def _discard(self, options: dict[str, Any]) -> tuple[Any, list[str]]:
        gone = policies.discard(_version(options).id, by=person_named(options["by"]))
        return shape(gone), [f"{gone} is discarded."]

    def _show(self, options: dict[str, Any]) -> tuple[Any, list[str]]:
        shown = _version(options) if options["what"] else policies.in_force()
        if shown is None:
            raise NotFound("No policy is in force; everything is denied.")
        return {**shape(shown), "text": shown.text}, [f"# {shown}, {shown.state}", *shown.text.splitlines()]

    def _history(self, _options: dict[str, Any]) -> tuple[Any, list[str]]:
        found = list(Policy.objects.order_by("-id"))
        lines = [
            f"{one!s:24} {one.state:10} drafted by {one.drafted_by}"
            + (f", active from {one.active_from:%Y-%m-%d %H:%M} by {one.activated_by}" if one.active_from else "")
            for one in found
        ]
        return {"versions": [shape(one) for one in found]}, lines


def shape(one: Policy) -> dict[str, Any]:
    return {
        "policy": one.name,
        "version": one.version,
        "state": one.state,
        "digest": one.digest,
        "drafted_by": one.drafted_by,
        "activated_by": one.activated_by or None,
        "active_from": one.active_from.isoformat() if one.active_from else None,
    }


def _text(options: dict[str, Any]) -> tuple[str, str]:
    if options["shipped"]:
        texts = policies.shipped()
        if options["shipped"] not in texts:
            raise Invalid("no such text", [Flaw("--shipped", options["shipped"], f"there are {', '.join(texts)}")])
        return texts[options["shipped"]], f"{options['shipped']}.yaml"
    if not options["what"]:
        raise Invalid("There is nothing to read.", [Flaw("what", None, "name a file, or - for standard input")])
    if options["what"] == "-":
        return sys.stdin.read(policy.LONGEST + 1), "policy.yaml"
    try:
        return Path(options["what"]).read_text(encoding="utf-8"), Path(options["what"]).name
    except (OSError, UnicodeDecodeError) as trouble:
        raise Invalid("The file can't be read.", [Flaw("what", options["what"], str(trouble))]) from None


def _version(options: dict[str, Any]) -> Policy:
    """`starter v2`, as decisions name it; a name alone is its latest version."""
    name, _, number = (options["what"] or "").rpartition(" v")
    found = Policy.objects.filter(name=name or options["what"]).order_by("-version")
    if number.isdigit() and name:
        found = found.filter(version=int(number)) if len(number) < 10 else found.none()
    version = found.first()
    if version is None:
        known = ", ".join(str(one) for one in Policy.objects.order_by("-id")[:10])
        raise Invalid("There is no such version.", [Flaw("what", options["what"], f"there are {known}")])
    return version


def _at(options: dict[str, Any]) -> dt.datetime | None:
    if not options["at"]:
        return None
    at = moment_of(options["at"])
    if at is None or at.tzinfo is None:
        message = "must be a time with its offset, such as 2026-01-31T08:00+01:00"
        raise Invalid("Nothing was activated.", [Flaw("--at", options["at"], message)])
    return at


def _flaw(flaw: Flaw) -> dict[str, Any]:
    place = {"file": flaw.file, "line": flaw.line, "column": flaw.column} if isinstance(flaw, PlacedFlaw) else {}
    return {**place, "path": flaw.path, "value": flaw.value, "message": flaw.message}

"""Versions of the policy: drafted by one person, tried on past decisions, activated by another.

1. `draft` keeps a sound text; whatever is wrong with it is said with its line, and nothing is written.
2. `dry_run` says what past decisions would have been under it (see `authority.dry_run`).
3. `activate` wants a second person, a dry run, examples that hold, and approvers that exist. From its time on, by the
   database's clock, each next dispatch asks it, and what persons were asked under another version is asked anew.
"""

from __future__ import annotations

import datetime as dt
import difflib
import uuid
from collections.abc import Iterator
from pathlib import Path

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Max, Q, QuerySet

from workflows import journal, ledger, rows
from workflows.authority import four_eyes, policy, stops
from workflows.authority.policy import Checked
from workflows.authority.policy.rules import Rule
from workflows.authority.staff import UNDECIDING
from workflows.errors import Denied, Flaw, Invalid, NotFound, StaleFence
from workflows.marked import _
from workflows.models import Policy
from workflows.models.policy import ACTIVE, DRAFT

SHIPPED = Path(policy.__file__).parent / "shipped"
LONGEST_WHY = 1000  # characters
DRAFTING = 0x4D_61_50_6F  # "MaPo": the advisory lock under which a version gets its number


def draft(text: str, *, by: str, why: str = "", file: str = "policy.yaml") -> Policy:
    """A new version of the policy that the text names. Raises `Invalid` with flaws that name their lines."""
    checked = policy.check(text, file=file)
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [DRAFTING])
        now = rows.now()
        last = Policy.objects.filter(name=checked.name).aggregate(n=Max("version"))["n"] or 0
        made = Policy(
            name=checked.name,
            version=last + 1,
            text=text,
            digest=checked.digest,
            drafted_by=by[:100],
            drafted_at=now,
            why=why.strip()[:LONGEST_WHY],
        )
        made.event = "draft"
        made.payload = {"digest": checked.digest, "why": made.why}
        write(made, now, by, before="")
    return made


def discard(policy_id: uuid.UUID, *, by: str) -> Policy:
    """A draft that won't be. Raises `NotFound`, `StaleFence`."""
    with transaction.atomic():
        found = locked_draft(policy_id)
        found.discard()
        write(found, rows.now(), by, before=DRAFT)
    return found


def activate(
    policy_id: uuid.UUID, *, by: str, at: dt.datetime | None = None, why: str = "", glass: bool = False
) -> Policy:
    """In force from `at`, or from now; when this returns, no dispatch goes on under another version that it replaced.
    `glass`, with its `why`: see `four_eyes`.

    Raises `NotFound`, `StaleFence` (no draft any more), `Denied` (the person who drafted it), `Invalid`."""
    with transaction.atomic():
        found = locked_draft(policy_id)
        now = rows.now()
        alone = found.drafted_by == by[:100]
        if alone and not four_eyes.one_may(glass=glass):
            need = _(
                "{by} drafted {policy}; another person must activate it (FOUR_EYES=required).", by=by, policy=str(found)
            )
            raise Denied(need)
        checked = policy.check(found.text, label=str(found))
        if flaws := [*policy.flaws(checked), *impossible(checked)]:
            raise Invalid(_("{policy} can't be active", policy=str(found)), flaws)
        if found.differences is None:
            first = _(
                "Try {policy} on past decisions first, and look at what would change (dry run).", policy=str(found)
            )
            raise Invalid(first)
        if at is not None and at < now:
            raise Invalid(_("Nothing was activated."), [Flaw("at", at.isoformat(), _("must lie in the future"))])
        found.activate(by=by[:100], now=now, at=at or now)
        told = four_eyes.broken(found, by=by, why=why) if alone else {}
        found.payload = {"from": found.active_from, "digest": found.digest, **told}
        write(found, now, by, before=DRAFT)
        _ask_anew(at or now)
    if at is None:
        stops.quiet()
    return found


def _ask_anew(at: dt.datetime) -> None:
    """Whoever waits for persons is looked at again when another version is in force."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE workflows_effect SET due_at = least(due_at, %s) WHERE state = 'blocked' AND reason = 'approval'"
            " RETURNING run_id",
            [at],
        )
        ledger.notify({row[0] for row in cursor.fetchall()}, work=True)


def impossible(checked: Checked) -> Iterator[Flaw]:
    """Rules that ask more people than there are. One query for each different set of people."""
    known_people: dict[str | tuple[str, ...], int] = {}
    for rule in {rule.name: rule for rule in checked.ruled.rules if rule.verdict.verdict == policy.ASK}.values():
        approvers, count = rule.verdict.approvers, rule.verdict.count
        if approvers not in known_people:
            known_people[approvers] = _people(rule).count()
        there = known_people[approvers]
        if isinstance(approvers, tuple) and there < len(approvers):
            known = set(_people(rule).values_list("username", flat=True))
            missing = ", ".join(login for login in approvers if login not in known)
            yield Flaw(f"rules.{rule.name}.then.ask.approvers", missing, _("is no login here, or is switched off"))
        elif there < count:
            message = _(
                "asks {count} of the role {role}, which {there} can fill; give it to more people (create_person)",
                count=count,
                role=approvers,
                there=there,
            )
            yield Flaw(f"rules.{rule.name}.then.ask.count", count, message)


def _people(rule: Rule) -> QuerySet[User]:
    approvers = rule.verdict.approvers
    if isinstance(approvers, tuple):
        return User.objects.filter(username__in=approvers, is_active=True)
    people = User.objects.filter(Q(groups__name=approvers) | Q(is_superuser=True), is_active=True).distinct()
    return people.exclude(groups__name__in=UNDECIDING, is_superuser=False)


def in_force() -> Policy | None:
    """The version that the next dispatch asks."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now = cursor.fetchone()[0]
    return Policy.objects.filter(state=ACTIVE, active_from__lte=now).order_by("-active_from", "-id").first()


def difference(old: Policy | None, new: Policy) -> list[str]:
    """Both texts as lines of a unified diff; empty where they are the same."""
    before = old.text.splitlines() if old else []
    return list(difflib.unified_diff(before, new.text.splitlines(), str(old or "nothing"), str(new), lineterm=""))


def shipped() -> dict[str, str]:
    """Texts to begin with, by name."""
    return {path.stem.rpartition("-")[0]: path.read_text() for path in sorted(SHIPPED.glob("*.yaml"))}


def locked_draft(policy_id: uuid.UUID) -> Policy:
    found = Policy.objects.filter(id=policy_id).select_for_update().first()
    if found is None:
        raise NotFound(_("There is no such version of a policy."))
    if found.state != DRAFT:
        gone = _("{policy} is {state} by now; draft a new version instead.", policy=str(found), state=found.state)
        raise StaleFence(gone)
    return found


def write(made: Policy, now: dt.datetime, by: str, *, before: str) -> None:
    """The row and its entry in history, in the caller's transaction."""
    event = journal.Event(
        subject=made,
        kind="policy",
        run_id=None,
        event=made.event,
        before=before,
        after=made.state,
        actor=by[:100],
        payload=made.payload,
    )
    entries = journal.chain([event], at=now)
    made.save()
    journal.write(entries)
    made.event, made.payload = "", None

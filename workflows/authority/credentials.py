"""Credentials whose tokens are renewed: who needs one, who waits for one, and what becomes of it. For dispatch, calls,
looks, `engine.refresh` and the command `credential`.

A token is read from the database only, so that its answer was kept before it is used. While a credential has no token
that is accepted, what needs it is blocked with reason `hold`, and no attempt is used up.
"""

from __future__ import annotations

import datetime as dt
import json
import threading
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import structlog
from django.db import connection, transaction

from workflows import journal, ledger, rows
from workflows.authority.sealing import Unsealable, unseal
from workflows.fetch import fetch
from workflows.models import Credential, Effect
from workflows.models.credential import CredentialState
from workflows.outcomes import Rejected
from workflows.signals import people_should_know
from workflows.toolbox import times_of, tool_of
from workflows.tools.tokens import Token

EARLY = 60.0  # seconds before its end a token is renewed, while the old one still serves
RENEWED_WITHIN = dt.timedelta(seconds=30)  # a waiter asks again by then, even if nobody woke it
MOST_REFUSALS = 2  # new tokens in a row that were refused; a third would be refused too

log = structlog.get_logger(__name__)
wanted = threading.Event()  # somebody in this process needs a new token: its drain asks at once

_open: dict[str, tuple[int, str]] = {}  # name -> (generation, access token), unsealed once


# What dispatch asks, after stops.


def hold_back(effects: Sequence[Effect], now: dt.datetime, stopped: list[Effect]) -> list[Effect]:
    """Those whose credentials have a token that will be accepted; the others are blocked, and say for which they wait.
    No statement where no tool needs any."""
    names = _names(effects)
    if not names:
        return list(effects)
    known = {row.name: row for row in fetch(Credential, NAMED, [sorted(names)])}
    if any(waits(effect, known, now) for effect in effects):
        # Read again under a lock: who renews one meanwhile finds whom this blocks.
        known = {row.name: row for row in fetch(Credential, f"{NAMED} FOR NO KEY UPDATE", [sorted(names)])}
    soon = {name for name in names if name in known and not known[name].usable(now, EARLY)}
    going = []
    for effect in effects:
        if by := waits(effect, known, now):
            lasting = any(blocker["lasting"] for blocker in by)
            told = [{name: blocker[name] for name in ("credential", "why")} for blocker in by]
            effect.block(reason="hold", blocked_by=told, due_at=None if lasting else now + RENEWED_WITHIN)
            stopped.append(effect)
        else:
            going.append(effect)
    want(soon)
    return going


NAMED = "WHERE t.name = ANY (%s) ORDER BY t.name"


def _names(effects: Iterable[Effect]) -> set[str]:
    return {name for effect in effects for name in tool_of(effect.tool).needs(effect.operation).all}


def waits(effect: Effect, known: dict[str, Credential], now: dt.datetime) -> list[dict[str, Any]]:
    """For which credentials an effect waits. One of its looks alone holds nothing back while it can be renewed."""
    needs, found = tool_of(effect.tool).needs(effect.operation), []
    for name in sorted(needs.all):
        row = known.get(name)
        if row is None:
            found.append({"credential": name, "why": "it isn't there yet", "lasting": True})
        elif row.state == CredentialState.LOST:
            found.append({"credential": name, "why": f"it was lost: {row.why}", "lasting": True})
        elif name in needs.send and not row.usable(now, times_of(effect).timeout):
            found.append({"credential": name, "why": "its token is being renewed", "lasting": False})
    return found


def want(names: Collection[str]) -> None:
    """Asks for new tokens; the drain sees to it."""
    if names:
        with connection.cursor() as cursor:
            cursor.execute(WANT, [sorted(names)])
        wanted.set()


WANT = """
UPDATE workflows_credential SET wanted_at = clock_timestamp()
WHERE name = ANY (%s) AND wanted_at IS NULL AND state <> 'lost'
"""


# What calls and looks carry, and what comes back.


def tokens_for(effects: Sequence[Effect]) -> dict[str, Token]:
    """The tokens of these effects' tools by credential, as they are now. Those that can't be used are left out, and
    asked for. No statement where no tool needs any."""
    names = _names(effects)
    if not names:
        return {}
    now, found = rows.now(), {}
    for row in fetch(Credential, NAMED, [sorted(names)]):
        if row.usable(now, 0.0) and (text := _access(row)):
            found[row.name] = Token(credential=row.name, text=text, generation=row.generation)
    want(names - found.keys())
    return found


def _access(row: Credential) -> str:
    generation, text = _open.get(row.name, (0, ""))
    if generation != row.generation:
        try:
            text = str(json.loads(unseal(row.sealed))["access"])
        except Unsealable:
            return ""
        _open[row.name] = (row.generation, text)
    return text


def heed(rejected: Iterable[Rejected | None]) -> None:
    """A provider did not accept tokens: each is used no more, and a new one is asked for, or the credential is lost.
    In a transaction of its own, before what the answers say of their effects is written."""
    told = {one.credential: one for one in rejected if one is not None and one.credential}
    if not told:
        return
    with transaction.atomic():
        now = rows.now()
        found = list(Credential.objects.filter(name__in=told).order_by("name").select_for_update())
        for row in found:
            one = told[row.name]
            if row.state == CredentialState.LOST or one.generation != row.generation or row.refused == row.generation:
                continue  # it is known already, or there is a newer one
            row.refused, row.refusals = row.generation, row.refusals + 1
            if one.lasting or row.refusals > MOST_REFUSALS:
                row.lose(why=one.lasting or "the provider refuses even new tokens")
            else:
                row.wanted_at = row.wanted_at or now
                row.note("refuse")
            write(row, now, payload={"generation": one.generation})
    wanted.set()


# What became of a credential.


def write(row: Credential, now: dt.datetime, *, by: str = ledger.ENGINE, payload: dict[str, Any] | None = None) -> None:
    """Saves a credential that the caller has locked or made, with its entry. No token is ever part of an entry."""
    newly_lost = row.state == CredentialState.LOST != row.was_state
    if row.state == CredentialState.LOST:
        log.warning("credential lost", credential=row.name, owner=row.owner, why=row.why)
    event = journal.Event(
        subject=row,
        kind="credential",
        run_id=None,
        event=row.event,
        before=row.was_state,
        after=row.state,
        fence=row.fence,
        actor=by[:100],
        payload={"credential": row.name, **({"why": row.why} if row.why else {}), **(payload or {})},
    )
    made = journal.chain([event], at=now)
    row.changed_at = now
    row.event, row.was_state = "", row.state
    row.save()
    journal.write(made)
    if newly_lost:
        people_should_know.send(None, thing=row)


def wake(names: Collection[str] = ()) -> None:
    """Makes due at once whoever waits for one of these; without names for any that is not lost (the sweep)."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(WAKE, [sorted(names), not names])
        ledger.notify({row[0] for row in cursor.fetchall()}, work=True)


WAKE = """
UPDATE workflows_effect SET due_at = clock_timestamp() WHERE id = ANY (ARRAY(
  SELECT e.id FROM workflows_effect e
  WHERE e.state = 'blocked' AND e.reason = 'hold' AND (e.due_at IS NULL OR e.due_at > clock_timestamp()) AND EXISTS (
    SELECT 1 FROM jsonb_array_elements(e.blocked_by) b JOIN workflows_credential c ON c.name = b ->> 'credential'
    WHERE c.name = ANY (%s) OR (%s AND c.state <> 'lost'))
  ORDER BY e.id FOR UPDATE OF e))
RETURNING run_id
"""


def lost() -> str:
    """Which credentials are lost, in a sentence, for health and doctor; "" where none is."""
    lost_ones = list(Credential.objects.filter(state=CredentialState.LOST.value))
    if not lost_ones:
        return ""
    told = "; ".join(f"{row.name} ({row.why})" for row in lost_ones)
    ways = {"set another secret" if row.static else "manage.py credential brings new ones" for row in lost_ones}
    return f"Lost: {told}. What needs them waits; {', '.join(sorted(ways))}."

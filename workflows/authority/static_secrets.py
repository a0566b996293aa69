"""Static secrets: who waits for one that isn't set, or that a provider refuses. For dispatch, record, look and sweeps.

A refused one is a lost credential like any other: what needs it is blocked with reason `hold`, no attempt is used up,
its owner is told, and nothing is undone because of it. It serves again once another one is set. Providers take keys
back too, so now and then one effect tries it.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable, Sequence

from django.db import connection, transaction

from workflows import ledger, rows
from workflows.authority import credentials
from workflows.authority.sealing import print_of
from workflows.fetch import fetch
from workflows.models import Credential, Effect, Tool
from workflows.models.credential import CredentialState, Grant
from workflows.outcomes import Acknowledged, Outcome, Pending, Refused, Rejected, Sighting
from workflows.states import EffectState
from workflows.toolbox import tool_of
from workflows.tools import providers

TRIED_EVERY = dt.timedelta(minutes=5)  # rarely enough for a provider that locks who fails too often
trying: dict[str, uuid.UUID] = {}  # lost ones, with the effect of this process that tries each


def hold_back(effects: Sequence[Effect], now: dt.datetime, stopped: list[Effect]) -> list[Effect]:
    """Those whose secrets are set and not refused; the others are blocked, and say for which they wait. No statement
    where no tool needs any."""
    effects = _set(effects, stopped)
    reads = _reads_of(effects)
    rows_of = {
        e.id: [*_rows_of(e), *(name for tool in reads.get(e.id, ()) for name in _sent_by(tool))] for e in effects
    }
    needed = {name for names in rows_of.values() for name in names}
    if not needed or not _lost(fetch(Credential, LOST, [sorted(needed)])):
        return effects
    found = Credential.objects.filter(name__in=needed, state=CredentialState.LOST.value).order_by("name")
    lost = _lost(found.select_for_update(no_key=True))  # one tries it, of all that are dispatched anywhere
    due = {name for name, row in lost.items() if row.ask_at is not None and row.ask_at <= now}
    going = []
    for effect in effects:
        mine = [name for name in dict.fromkeys(rows_of[effect.id]) if name in lost]
        # Who was let go to try one, and was kept from sending by something else, tries it still.
        if waits := [name for name in mine if name not in due and trying.get(name) != effect.id]:
            told = [{"credential": name, "why": lost[name].why} for name in waits]
            effect.block(reason="hold", blocked_by=told)
            stopped.append(effect)
            continue
        due.difference_update(mine)
        trying.update(dict.fromkeys(mine, effect.id))
        if mine:  # no move, so no entry: the attempt tells of it
            Credential.objects.filter(name__in=mine).update(ask_at=now + TRIED_EVERY)
        going.append(effect)
    return going


LOST = "WHERE t.name = ANY (%s) AND t.state = 'lost' ORDER BY t.name"


def _set(effects: Sequence[Effect], stopped: list[Effect]) -> list[Effect]:
    """A secret that isn't set (any more) must not fail a step: an operator sets it, and the sweep lets go."""
    needed = {name for effect in effects for name in tool_of(effect.tool).needs(effect.operation).secrets}
    unset = {name for name in needed if providers.secret(name) is None}
    going = []
    for effect in effects:
        if missing := sorted(unset & tool_of(effect.tool).needs(effect.operation).secrets):
            told = [{"secret": name, "why": f"it isn't set; set {providers.places(name)}"} for name in missing]
            effect.block(reason="hold", blocked_by=told)
            stopped.append(effect)
        else:
            going.append(effect)
    return going


def _rows_of(effect: Effect) -> list[str]:
    """Under which names a loss of its secrets is kept; one of its looks alone holds it back too, as what could never be
    verified isn't begun."""
    needs = tool_of(effect.tool).needs(effect.operation)
    return _names(needs.secrets | needs.look_secrets, effect.tool.name)


def _reads_of(effects: Sequence[Effect]) -> dict[uuid.UUID, list[Tool]]:
    """The tools of what effects are based on, which is read again right before they are sent. No statement where
    nothing was recorded."""
    based = {effect.id: [uuid.UUID(read["effect"]) for read in effect.reads] for effect in effects if effect.reads}
    if not based:
        return {}
    ids = {pk for found in based.values() for pk in found}
    tools = {read.id: read.tool for read in Effect.objects.filter(id__in=ids).select_related("tool")}
    return {pk: [tools[read] for read in found] for pk, found in based.items()}


def _sent_by(tool: Tool) -> list[str]:
    return _names(tool_of(tool).needs("execute").secrets, tool.name)


def _names(secrets: Iterable[str], tool: str) -> list[str]:
    return [_row_name(name, at) for name in sorted(secrets) for at in ("", tool)]


def _row_name(secret: str, tool: str) -> str:
    return f"secret {secret} at {tool}" if tool else f"secret {secret}"


def _lost(found: Iterable[Credential]) -> dict[str, Credential]:
    """By their names; without those of which another one is set by now."""
    return {row.name: row for row in found if row.refused_as == _print(row.secret)}


def _print(secret: str) -> str:
    value = providers.secret(secret)
    return "" if value is None else print_of(value)


def heed(answered: Iterable[tuple[Effect, Outcome | Sighting | None]]) -> None:
    """A provider refused secrets: what needs them waits from now on. Or it took one that somebody tried. In a
    transaction of its own, before what the answers say of their effects is written."""
    refused: dict[str, tuple[str, Effect, Rejected]] = {}
    taken: set[str] = set()
    for effect, answer in answered:
        rejected = answer.rejected if isinstance(answer, Refused | Sighting) else None
        if rejected is not None and rejected.secrets:
            at = (rejected.tool or effect.tool.name) if rejected.only_here else ""
            refused |= {_row_name(name, at): (name, effect, rejected) for name in rejected.secrets}
        elif trying:
            taken |= _taken(effect, answer)
    if not refused and not taken:
        return
    with transaction.atomic():
        now = rows.now()
        for name in sorted(refused):
            _refuse(name, *refused[name], now)
        _accept(taken - refused.keys(), now)
    for name in refused.keys() | taken:
        trying.pop(name, None)


def _taken(effect: Effect, answer: Outcome | Sighting | None) -> set[str]:
    """Under which names a loss of those secrets is kept that were tried by what was asked, where the answer comes from
    behind the door: from who knew who asked. Whoever says "later" may be a limiter or a proxy before it."""
    needs = tool_of(effect.tool).needs(effect.operation)
    if isinstance(answer, Sighting):
        return trying.keys() & _names(needs.look_secrets if answer.reached else (), effect.tool.name)
    known = isinstance(answer, Acknowledged | Pending) or (isinstance(answer, Refused) and not answer.temporary)
    if not known or effect.state != EffectState.DISPATCHED:
        return set()
    tried = {name for name, by in trying.items() if by == effect.id}
    return tried.difference(_names(needs.look_secrets - needs.secrets, effect.tool.name))


def _refuse(name: str, secret: str, effect: Effect, rejected: Rejected, now: dt.datetime) -> None:
    fresh = {"owner": effect.owner, "grant": Grant.STATIC.value, "secret": secret, "rotates": False}
    Credential.objects.get_or_create(name=name, defaults={**fresh, "created_at": now, "changed_at": now})
    row = Credential.objects.select_for_update().get(name=name)
    mark = print_of(rejected.secrets[secret])
    if row.state == CredentialState.LOST and row.refused_as == mark:
        return
    if row.state == CredentialState.LOST:  # another one was set, and is refused too: that is to be told anew
        row.accept()
        credentials.write(row, now)
    tool = rejected.tool or effect.tool.name
    what = f"the provider doesn't let it do what {tool} does" if rejected.only_here else "it is refused"
    row.owner, row.refused_as = effect.owner, mark
    row.lose(why=f"{what}; set another one ({providers.places(secret)}), or have the provider take this one")
    row.ask_at = now + TRIED_EVERY
    credentials.write(row, now, payload={"effect": str(effect.id)})


def _accept(names: Iterable[str], now: dt.datetime) -> None:
    found = Credential.objects.filter(name__in=names, state=CredentialState.LOST.value).order_by("name")
    accepted = list(found.select_for_update())
    for row in accepted:
        row.accept()
        credentials.write(row, now)
    if accepted:
        credentials.wake([row.name for row in accepted])


def wake() -> None:
    """Lets go who waits for a secret that is set by now, and one for each lost one that may be tried. By the sweep."""
    with transaction.atomic():
        now = rows.now()
        lost = Credential.objects.filter(grant=Grant.STATIC.value, state=CredentialState.LOST.value)
        other = {row.name for row in lost if row.refused_as != _print(row.secret)}
        due = [row.name for row in lost if row.name not in other and (row.ask_at is None or row.ask_at <= now)]
        idle = {name for name in due if not _wake_one(name)}  # nobody needs it any more
        _accept(other | idle, now)
        _wake_unset()


def _wake_one(name: str) -> bool:
    """Who was refused less often than others tries it: the act of one of them may be what is refused."""
    with connection.cursor() as cursor:
        cursor.execute(WAKE_ONE, [name])
        woken = {row[0] for row in cursor.fetchall()}
    ledger.notify(woken, work=True)
    return bool(woken)


WAKE_ONE = """
UPDATE workflows_effect SET due_at = clock_timestamp() WHERE id = ANY (ARRAY(
  SELECT e.id FROM workflows_effect e WHERE e.state = 'blocked' AND e.reason = 'hold' AND EXISTS (
    SELECT 1 FROM jsonb_array_elements(e.blocked_by) b WHERE b ->> 'credential' = %s)
  ORDER BY e.backoffs, e.epoch, e.ordinal LIMIT 1 FOR UPDATE OF e))
RETURNING run_id
"""


def _wake_unset() -> None:
    with connection.cursor() as cursor:
        cursor.execute(AWAITED)
        there = [name for (name,) in cursor.fetchall() if providers.secret(name) is not None]
        if there:
            cursor.execute(WAKE_SET, [there])
            ledger.notify({row[0] for row in cursor.fetchall()}, work=True)


AWAITED = """
SELECT DISTINCT b ->> 'secret' FROM workflows_effect e, jsonb_array_elements(e.blocked_by) b
WHERE e.state = 'blocked' AND e.reason = 'hold' AND b ? 'secret'
"""
WAKE_SET = """
UPDATE workflows_effect SET due_at = clock_timestamp() WHERE id = ANY (ARRAY(
  SELECT e.id FROM workflows_effect e WHERE e.state = 'blocked' AND e.reason = 'hold' AND EXISTS (
    SELECT 1 FROM jsonb_array_elements(e.blocked_by) b WHERE b ->> 'secret' = ANY (%s))
  ORDER BY e.id FOR UPDATE OF e))
RETURNING run_id
"""

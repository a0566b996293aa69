"""Versions of tools that may not be called any more: withdrawn by a person, replaced while work waited for persons, or
carried out by other code than when it was asked for. Their work waits as `version` until a person decides about it.

Running work of a version that was merely replaced goes on with the version it began with, as workflows do.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Collection

from django.db import connection, transaction

from workflows import journal, ledger, rows
from workflows.authority import ending
from workflows.authority.policy import Present
from workflows.authority.verdict import DENY, Verdict
from workflows.errors import NotFound, StaleFence
from workflows.marked import _
from workflows.models import Effect, Tool, ToolAct
from workflows.states import EffectState
from workflows.toolbox import pins_of
from workflows.why import reason

WITHDRAWN, REPLACED, CHANGED = "withdrawn", "replaced", "changed"
WORDS = {
    WITHDRAWN: "the version was withdrawn",
    REPLACED: "another version was applied while it waited for persons",
    CHANGED: "its code is not the one that was there when it was asked for",
}
CODE_AGAIN = dt.timedelta(seconds=60)  # code is put back without telling us; each look costs one move


def trouble(effect: Effect, present: Present, *, asks: bool) -> str:
    """Why its tool's version may not be called; empty where it may, or a person said that it may. `asks`: persons are
    asked about it, so that it may have waited for long."""
    if effect.tool_id in present.withdrawn:
        word = WITHDRAWN
    elif effect.implementation and effect.implementation != pins_of(effect.tool)[1]:
        word = CHANGED
    elif asks and effect.tool_id in present.superseded:
        word = REPLACED
    else:
        return ""
    return "" if effect.accepted == token(effect, word) else word


def withdrawn(tool: Tool) -> Verdict:
    """What is said to who asks for new work by a version that was withdrawn."""
    reason = f"{tool} was withdrawn: {tool.withdrawn_why}"
    return Verdict(DENY, "tool-withdrawn", reason, policy="versions")


def token(effect: Effect, word: str) -> str:
    """What a person accepts: this trouble, with the code that is there now."""
    return f"{word} {pins_of(effect.tool)[1]}"


def hold(effect: Effect, word: str, now: dt.datetime) -> None:
    """Blocks it until somebody decides."""
    by = [{"version": str(effect.tool), "is": word, "detail": WORDS[word]}]
    effect.block(reason="version", blocked_by=by, due_at=now + CODE_AGAIN if word == CHANGED else None)


def withdraw(tool: Tool, *, by: str, why: str) -> ToolAct:
    """No effect is sent by this version any more, whatever asks for it. Raises `Invalid`, `StaleFence`."""
    return _act(tool.id, "withdraw", by=by, why=why)


def restore(tool: Tool, *, by: str, why: str) -> ToolAct:
    """It may be called again; what waited for that goes on. Raises `Invalid`, `StaleFence`."""
    return _act(tool.id, "restore", by=by, why=why)


def _act(tool_id: uuid.UUID, what: str, *, by: str, why: str) -> ToolAct:
    why = reason(why)
    with transaction.atomic():
        tool = Tool.objects.select_for_update().get(id=tool_id)
        if (tool.withdrawn_at is None) == (what == "restore"):
            if what == "restore":
                raise StaleFence(_("{tool} is not withdrawn.", tool=str(tool)))
            raise StaleFence(_("{tool} is withdrawn already.", tool=str(tool)))
        now = rows.now()
        tool.withdrawn_at, tool.withdrawn_by, tool.withdrawn_why = (now, by[:100], why) if what == "withdraw" else (
            None, "", ""
        )  # fmt: skip
        tool.save(update_fields=["withdrawn_at", "withdrawn_by", "withdrawn_why"])
        act = ToolAct(tool=tool, what=what, by=by[:100], why=why, at=now)
        payload = {"tool": str(tool), "why": why}
        event = journal.Event(subject=act, kind="toolact", run_id=None, event=what, actor=by[:100], payload=payload)
        made = journal.chain([event], at=now)
        act.save(force_insert=True)
        journal.write(made)
        look_again([tool.id], now)
    return act


def look_again(tools: Collection[uuid.UUID], now: dt.datetime) -> None:
    """Work of these versions that waits for persons, or for a decision about the version, is judged anew."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE workflows_effect SET due_at = %s WHERE state = 'blocked' AND reason IN ('approval', 'version')"
            " AND tool_id = ANY (%s::uuid[]) RETURNING run_id",
            [now, rows.ids(tools)],
        )
        ledger.notify({row[0] for row in cursor.fetchall()}, work=True)


def let_go(effect_id: uuid.UUID, *, by: str, why: str) -> Effect:
    """This effect may go with the version as it is now. Raises `NotFound`, `Invalid`, `StaleFence`."""
    with transaction.atomic():
        effect, now = _held(effect_id)
        word = next((one["is"] for one in effect.blocked_by if "is" in one), CHANGED)
        effect.accepted = token(effect, word)
        effect.payload = {"why": reason(why), "accepted": word}
        effect.release(due_at=now)
        ledger.save_effects([effect], now=now, actor=by)
    return effect


def give_up(effect_id: uuid.UUID, *, by: str, why: str) -> Effect:
    """It isn't sent: a forward effect is cancelled and its step fails, an undoing needs a person."""
    with transaction.atomic():
        effect, now = _held(effect_id)
        ending.end(effect, reason="policy", detail=f"given up because of its tool's version: {reason(why)}")
        ledger.save_effects([effect], now=now, actor=by)
    return effect


def _held(effect_id: uuid.UUID) -> tuple[Effect, dt.datetime]:
    """The effect, locked after its run, which is woken."""
    run_id = Effect.objects.filter(id=effect_id).values_list("run_id", flat=True).first()
    if run_id is None:
        raise NotFound(f"there is no effect {effect_id}")
    ledger.wake_runs([run_id])
    effect = Effect.objects.select_related("tool").select_for_update(of=("self",)).get(id=effect_id)
    if (effect.state, effect.reason) != (EffectState.BLOCKED, "version"):
        gone = _("The effect is {state} by now; it doesn't wait for a decision about its version.", state=effect.state)
        raise StaleFence(gone)
    return effect, rows.now()

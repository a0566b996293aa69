"""Reads rows into the plain facts that `repairs.words` speaks of. One query a table; for cases, acts and views."""

from __future__ import annotations

import contextlib
import datetime as dt
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from repairs.words.facts import EffectFacts, LookFacts, Reason, SendFacts
from repairs.words.waits import waits_for
from workflows import toolbox
from workflows.models import Attempt, Effect, Look, Run
from workflows.states import REST, EffectState, Kind, Phase, World
from workflows.tools.expressions import ExpressionError
from workflows.windows import undoable_until


def effects_of(run_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, list[Effect]]:
    """All effects of these runs, in the order of their steps, with what their facts need. One query."""
    rows: dict[uuid.UUID, list[Effect]] = defaultdict(list)
    found = Effect.objects.filter(run__in=list(run_ids)).select_related(
        "step", "tool", "compensates", "makes_good__step"
    )
    for effect in found.order_by("run_id", "step__ordinal", "id"):
        rows[effect.run_id].append(effect)
    return rows


def last_looks(effect_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, Look]:
    looks = Look.objects.filter(effect__in=list(effect_ids)).order_by("effect_id", "-id").distinct("effect_id")
    return {look.effect_id: look for look in looks}


def last_sends(effect_ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, Attempt]:
    sends = Attempt.objects.filter(effect__in=list(effect_ids)).order_by("effect_id", "-id").distinct("effect_id")
    return {send.effect_id: send for send in sends}


def facts_of(
    run: Run,
    effects: Iterable[Effect],
    looks: Mapping[uuid.UUID, Look] | None = None,
    sends: Mapping[uuid.UUID, Attempt] | None = None,
    *,
    windows: bool = False,
) -> list[EffectFacts]:
    """The facts of a run's effects. Looks and sends are left out where only the sentence is made; `windows`: until when
    each could be undone, which is read only where somebody must decide by then."""
    turned_back = run.phase in (Phase.UNWINDING, Phase.OVER) and run.ending == "compensate"
    effects = list(effects)
    until = windows_of(run, effects) if windows else {}
    return [fact_of(e, turned_back, (looks or {}).get(e.id), (sends or {}).get(e.id), until.get(e.id)) for e in effects]


WINDOWS = 500  # told of a run: each may be an expression to be worked out, inside the engine's own transaction


def windows_of(run: Run, effects: Iterable[Effect]) -> dict[uuid.UUID, dt.datetime]:
    """Until when what stands, or may, can be undone by its own tool. One that can't be told is nothing to count on."""
    found: dict[uuid.UUID, dt.datetime] = {}
    for effect in [e for e in effects if undoable(e)][:WINDOWS]:
        with contextlib.suppress(ExpressionError, ValueError):
            if (end := undoable_until(effect, run)) is not None:
                found[effect.id] = end
    return found


def undoable(effect: Effect) -> bool:
    """Whether a window matters: it is declared, and there is, or may be, something left to undo."""
    declared = effect.tool.spec.get("compensate") or {}
    if not (declared.get("window") or declared.get("window_until")) or effect.kind == Kind.REMEDY:
        return False
    over = REST if effect.forward else SETTLED_OR_AT_REST
    return effect.state not in over and (effect.compensates or effect).world not in (World.NOTHING, World.GONE)


SETTLED_OR_AT_REST = REST | {EffectState.ACKNOWLEDGED, EffectState.VERIFIED}  # of an undoing


def fact_of(
    effect: Effect, turned_back: bool, look: Look | None, send: Attempt | None, window_until: dt.datetime | None = None
) -> EffectFacts:
    undone = effect.compensates
    stand_in = undone is not None and effect.operation == "execute"  # a fallback: another tool's own act
    thing = undone or effect
    spec: dict[str, Any] = effect.tool.spec
    undo_spec: dict[str, Any] = spec.get("compensate") or {}
    part = undo_spec if undone and not stand_in else spec
    idempotency: dict[str, Any] = part.get("idempotency") or {}
    return EffectFacts(
        id=str(effect.id),
        step=effect.step.name,
        tool=effect.tool.name,
        kind=effect.kind,
        state=effect.state,
        world=effect.world,
        reason=effect.reason,
        detail=effect.detail,
        statement=thing.residue,
        owner=effect.owner,
        effect_class=thing.effect_class,
        customer_visible=thing.customer_visible,
        verifiable=effect.verifiable,
        can_look=bool(part.get("verify")) and effect.tool.profile.get("observability") == "authoritative_read",
        can_undo=bool(undo_spec),
        keyed=idempotency.get("by") == "native_key",
        key=effect.key,
        key_until=toolbox.key_until(effect),
        window_until=window_until,
        miss_from=effect.believe_miss_from,
        ref=effect.external_ref,
        attempts=effect.attempts,
        waits_for=tuple(waits_for(blocker) for blocker in effect.blocked_by),
        verified_at=effect.verified_at,
        changed_at=effect.changed_at,
        look=look_fact(look),
        send=send_fact(send),
        value=money(thing.value),
        unwanted=turned_back and effect.forward and not effect.read_only,
        stand_in=stand_in,
        thing=undone.world if undone else World.PRESENT.value,
    )


def look_fact(look: Look | None) -> LookFacts | None:
    if look is None:
        return None
    return LookFacts(
        at=look.ended_at, verdict=look.verdict, reached=look.reached, counted=look.counted, reason=look.reason
    )


def send_fact(send: Attempt | None) -> SendFacts | None:
    if send is None:
        return None
    return SendFacts(at=send.ended_at or send.started_at, outcome=send.outcome, reason=send.reason)


def money(value: Any) -> tuple[int, str] | None:
    """Only what is whole minor units of a named currency is ever added up."""
    if not isinstance(value, dict):
        return None
    amount, currency = value.get("amount"), value.get("currency")
    if isinstance(amount, bool) or not isinstance(amount, int) or not isinstance(currency, str):
        return None
    return amount, currency


def reasons_of(run: Run) -> list[Reason]:
    """Why the run needs a person, as the engine wrote it."""
    rows = run.people_reasons if run.needs_person else []
    return [
        Reason(
            code=str(row.get("code", "")),
            effect=str(row.get("effect") or ""),
            step=str(row.get("step") or ""),
            tool=str(row.get("tool") or ""),
            detail=str(row.get("detail") or ""),
        )
        for row in rows
        if isinstance(row, dict)
    ]


def subject_of(run: Run) -> str:
    return run.subject_label or f"{run.subject_type} {run.subject_id}"

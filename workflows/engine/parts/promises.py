"""Holds providers to what their manifests promise of keys: for dispatch, record and look.

1. A key that is over, that its provider doesn't honour after all, or that would go to another place than before, lets
   no second send go by itself.
2. One key that made two objects demotes its tool's version: from then on it counts as one without keys.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence

from django.db import connection

from workflows import journal, ledger, toolbox
from workflows.engine.parts import key_places
from workflows.models import Attempt, Demotion, Effect
from workflows.outcomes import Acknowledged, Outcome, reference
from workflows.policies.after_look import expiry, several
from workflows.policies.next import Next
from workflows.states import EffectState, World


def keep(effects: Sequence[Effect], now: dt.datetime, stopped: list[Effect]) -> list[Effect]:
    """Those that may leave. A second send after a doubt rests on the key alone; where that doesn't hold any more, the
    world is searched first, and where nobody can search a person decides. No statement where nothing is in doubt."""
    if not any(_again(effect) for effect in effects):
        return list(effects)
    refresh()
    going = []
    moved = key_places.moved([effect for effect in effects if _again(effect)], now)
    for effect in effects:
        times = toolbox.times_of(effect)
        if not _again(effect) or (times.blind and effect.id not in moved and not expiry(effect, times, now)):
            going.append(effect)
            continue
        why = expiry(effect, times, now) or "this provider's promise about keys doesn't hold"
        if effect.id in moved:
            scope = toolbox.tool_of(effect.tool).promise(effect.operation)["scope"]
            why = f"our key is one key within one {scope} only, and this send would go to another one"
        if times.verifies:
            effect.block(reason="dependency", blocked_by=[{"look": why}], due_at=now)
        else:
            reason = "key_expired" if times.keyed and effect.id not in moved else "cannot_know"
            effect.stick(reason=reason, detail=f"{why}, and nobody can look", world="unknown")
        stopped.append(effect)
    return going


def _again(effect: Effect) -> bool:
    """Whether this send would follow one whose end nobody knows. What a person sends again counts from 0."""
    return effect.doubt and effect.attempts > 0 and not effect.read_only


def refresh() -> None:
    """Reads what stands demoted, for this process."""
    toolbox.distrust(Demotion.objects.filter(lifted_at=None).values_list("tool", "version"))


def twice_named(answered: Sequence[tuple[Effect, Outcome]]) -> dict[uuid.UUID, Next]:
    """What to do with those whose answer names another object than an answer that came late did, by effect."""
    asked = {e.id: (e, o.result) for e, o in answered if isinstance(o, Acknowledged) and e.attempts > 1}
    if not asked:
        return {}
    found: dict[uuid.UUID, Next] = {}
    for send in Attempt.objects.filter(effect_id__in=list(asked), outcome="acknowledged").order_by("id"):
        effect, result = asked[send.effect_id]
        before, after = reference(send.evidence.get("result")), reference(result)
        if before and after and before != after and toolbox.times_of(effect).keyed:
            found[effect.id] = several(f"one key, two objects: {before} and {after}")
    return found


def judge(moved: Sequence[Effect], now: dt.datetime) -> None:
    """Demotes the tools of effects that were just found several under one key. Called before they are written, so that
    their entries tell of it; by then their runs are locked."""
    broken_ones = [e for e in moved if _broken(e)]
    elsewhere = key_places.split({e.id for e in broken_ones}) if broken_ones else set()
    broken = {(e.tool.name, e.tool.version): e for e in broken_ones if e.id not in elsewhere}
    for (tool, version), effect in broken.items():
        seen = {"key": effect.key, "how": effect.detail or "a look found more than one"}
        with connection.cursor() as cursor:  # one demotion, however many find it at once
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"demote {tool}"])
        row = Demotion(tool=tool, version=version, effect=effect, seen=seen, at=now)
        if Demotion.objects.filter(tool=tool, version=version, lifted_at=None).exists():
            continue
        write(row, "demote", now, ledger.ENGINE, seen)
        effect.payload = {**(effect.payload or {}), "demotes": str(row)}
    if broken:
        refresh()


def _broken(effect: Effect) -> bool:
    several = effect.event != "" and effect.state == EffectState.STUCK and effect.world == World.SEVERAL
    return several and effect.attempts > 1 and toolbox.times_of(effect).keyed


def write(row: Demotion, event: str, now: dt.datetime, by: str, payload: dict[str, str]) -> None:
    """The row with its entry, in the caller's transaction."""
    after = "demoted" if row.lifted_at is None else "trusted"
    entry = journal.Event(
        subject=row, kind="demotion", run_id=None, event=event, after=after, actor=by[:100], payload=payload
    )
    made = journal.chain([entry], at=now)
    row.save()
    journal.write(made)

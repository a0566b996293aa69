"""Holds looks back where their tool is in trouble: a provider that comes back must not meet a crowd that only asks.

Sends and looks share the pace. A breaker holds back sends only: looks go on, slowly, and settle what they can. For look
and record.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Sequence
from typing import Any

from django.db.models import Q

from workflows import ledger
from workflows.engine.parts import gauges
from workflows.models import Effect, Gauge
from workflows.outcomes import Sighting
from workflows.policies import backoff, pace


def held(tools: Collection[Any], now: dt.datetime) -> set[str]:
    """Names of those whose looks can't all begin at once. One statement, where a tool has limits."""
    names = {tool.name for tool in tools if gauges.limits_of(tool)}
    if not names:
        return set()
    return set(Gauge.objects.filter(in_trouble(now), tool__in=sorted(names)).values_list("tool", flat=True))


def in_trouble(now: dt.datetime) -> Q:
    return Q(pace__isnull=False) | Q(paused_until__gt=now)


def let(effects: Sequence[Effect], now: dt.datetime) -> list[Effect]:
    """Those that may be looked at now; the others' time is moved on."""
    names = held([effect.tool for effect in effects], now)
    if not names:
        return list(effects)
    found = gauges.locked(sorted(names))
    going, later, times = [], [], []
    places = dict.fromkeys(found, 0)
    for effect in effects:
        gauge = found.get(effect.tool.name)
        speed = pace.of(gauge, now) if gauge else None
        paused = gauge.paused_until if gauge and gauge.paused_until and gauge.paused_until > now else None
        if gauge is None or (paused is None and (speed is None or pace.tokens(gauge, speed, now) >= 1.0)):
            going.append(effect)
            if gauge is not None and speed is not None:
                pace.spend(gauge, 1, now)
            continue
        places[gauge.tool] += 1
        wait = min(places[gauge.tool] / (speed or pace.START), backoff.LOOK_CAP)
        later.append(effect.id)
        times.append((paused or now) + dt.timedelta(seconds=wait))
    if later:
        ledger.postpone(later, times)
    gauges.write(found.values())
    return going


def learn(seen: Sequence[tuple[Effect, object]], now: dt.datetime) -> None:
    """What looks tell of their tool: only that it is in trouble is heeded, and hardly ever is."""
    missed = [(e, s) for e, s in seen if isinstance(s, Sighting) and not s.reached and gauges.limits_of(e.tool)]
    if not missed:
        return
    found = gauges.locked(sorted({effect.tool.name for effect, _ in missed}))
    for effect, sighting in missed:
        gauge = found[effect.tool.name]
        pace.slow_down(gauge, now)
        if sighting.retry_after:
            gauges.too_many(gauge, 0, sighting.retry_after, now)
    gauges.write(found.values())

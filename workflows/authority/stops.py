"""Stops: freezing and lifting (console, command), what dispatch and call hold back, and how the held are let go again.

1. A freeze is committed first, so that whatever reads stops from then on sees it.
2. Then it takes the lock that dispatches and groups of calls share: who read before is done when it gets it. From there
   on nothing new is sent. What had begun runs to its answer.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import OperationalError, connection, transaction
from psycopg import errors as pg

from workflows import journal, ledger, rows
from workflows.authority import four_eyes
from workflows.authority.stop_target import check_target
from workflows.errors import Denied, Flaw, Invalid, NotFound, StaleFence
from workflows.fetch import fetch
from workflows.marked import _
from workflows.models import Effect, Stop
from workflows.models.stop import StopState, Target
from workflows.signals import people_should_know
from workflows.why import reason

LOCK = 0x4D_61_53_74  # "MaSt": the advisory lock; of one part, so that it never meets the two-part ones of drains
# A group holds the lock for milliseconds; a worker that was put to sleep must not keep a freeze from returning.
PATIENCE = dt.timedelta(seconds=10)
SERIOUS = (Target.EVERYTHING, Target.TOOL)  # lifting these lets the most go: two people unless said otherwise


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    """`quiet`: every worker has heard of it. Else one that slept may still begin calls that it was about to make."""

    stop: Stop
    quiet: bool


def freeze(
    target: str,
    name: str = "",
    *,
    by: str,
    why: str,
    until: dt.datetime | None = None,
    second_person: bool | None = None,
    cause: str = "person",
) -> Frozen:
    """Holds all new sends to the target; when this returns `quiet`, nothing new is sent. Raises `Invalid`."""
    with transaction.atomic():
        now = rows.now()
        check_target(target, name)
        why = reason(why)
        if until is not None and until <= now:
            raise Invalid(_("Nothing was frozen."), [Flaw("until", until.isoformat(), _("must lie in the future"))])
        serious = target in SERIOUS if second_person is None else second_person
        stop = Stop(
            target=target,
            name=name,
            reason=why,
            cause=cause,
            second_person=serious,
            frozen_by=by[:100],
            frozen_at=now,
            until=until,
        )
        stop.event = "freeze"
        stop.payload = {"on": stop.on, "why": why, "until": until, "second_person": serious}
        _write(stop, now, by, before="")
        if target == Target.EVERYTHING:
            people_should_know.send(None, thing=stop)
    return Frozen(stop, quiet())


def quiet() -> bool:
    """Waits until every dispatch and group of calls that read stops before this moment is done; whether they were."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{PATIENCE.total_seconds() * 1000:.0f}ms"])
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
    except OperationalError as error:
        if isinstance(error.__cause__, pg.LockNotAvailable):
            return False
        raise
    return True


def lift(stop_id: uuid.UUID, *, by: str, why: str, glass: bool = False) -> Stop:
    """Lets go what the stop held, at once. `glass`: see `four_eyes`.

    Raises `NotFound`, `Denied` (a second person is needed), `StaleFence`."""
    why = reason(why)
    with transaction.atomic():
        stop = Stop.objects.filter(id=stop_id).select_for_update().first()
        if stop is None:
            raise NotFound(_("There is no such stop."))
        now = rows.now()
        if not stop.stands(now):
            raise StaleFence(_("{on} is not frozen by this any more; it was {state}.", on=stop.on, state=stop.state))
        alone = stop.second_person and stop.frozen_by == by
        if alone and not four_eyes.one_may(glass=glass):
            need = _("{by} froze {on}; another person must lift it (FOUR_EYES=required).", by=by, on=stop.on)
            raise Denied(need)
        stop.lift(by=by[:100], why=why, at=now, alone=alone)
        told = four_eyes.broken(stop, by=by, why=why) if alone else {}
        stop.payload = {"on": stop.on, "why": why, **told}
        _write(stop, now, by, before=StopState.FROZEN.value)
    quiet()  # who read that it stands has blocked what it held by then, and is found
    wake()
    return stop


def end_over() -> list[Stop]:
    """Says in history of stops whose time is over that they ended; they hold nothing since. Called by the sweep, which
    also lets go whoever was overlooked when a stop was lifted."""
    with transaction.atomic():
        now = rows.now()
        over = Stop.objects.filter(state=StopState.FROZEN.value, until__lte=now).order_by("id")
        ended = list(over.select_for_update(skip_locked=True))
        for stop in ended:
            stop.end()
            stop.payload = {"on": stop.on}
            _write(stop, now, ledger.ENGINE, before=StopState.FROZEN.value)
    wake()
    return ended


def wake() -> None:
    """Makes due at once whoever is held by a stop that stands no more, and rings for it."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(WAKE)
        ledger.notify({row[0] for row in cursor.fetchall()}, work=True)


WAKE = """
UPDATE workflows_effect SET due_at = clock_timestamp() WHERE id = ANY (ARRAY(
  SELECT e.id FROM workflows_effect e
  WHERE e.state = 'blocked' AND e.reason = 'hold' AND (e.due_at IS NULL OR e.due_at > clock_timestamp()) AND EXISTS (
    SELECT 1 FROM jsonb_array_elements(e.blocked_by) b JOIN workflows_stop s ON s.id = (b ->> 'stop')::uuid
    WHERE s.state <> 'frozen')
  ORDER BY e.id FOR UPDATE OF e))
RETURNING run_id
"""


def _write(stop: Stop, now: dt.datetime, by: str, *, before: str) -> None:
    event = journal.Event(
        subject=stop,
        kind="stop",
        run_id=None,
        event=stop.event,
        before=before,
        after=stop.state,
        actor=by[:100],
        payload=stop.payload,
    )
    made = journal.chain([event], at=now)
    stop.event, stop.payload = "", None
    stop.save()
    journal.write(made)


# What dispatch and call ask, in this order, inside one transaction.


def share() -> None:
    """Shares the lock until the transaction ends: a freeze that comes now waits for what is decided here. A statement
    of its own before stops are read: one that took the lock and read would read as of before it had the lock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock_shared(%s)", [LOCK])


def standing() -> list[Stop]:
    """The stops in force."""
    return fetch(Stop, STANDING)


STANDING = "WHERE t.state = 'frozen' AND (t.until IS NULL OR t.until > clock_timestamp()) ORDER BY t.id"


def in_force() -> str:
    """What is frozen, in a sentence, for health and doctor; "" where nothing is."""
    found = [f"{stop.on} since {stop.frozen_at:%Y-%m-%d %H:%M} UTC ({stop.reason})" for stop in standing()]
    return f"Frozen: {'; '.join(found)}. Nothing new is sent there; looks go on." if found else ""


def hold_back(effects: Sequence[Effect], stopped: list[Effect]) -> list[Effect]:
    """Those that no stop holds; the others are blocked, and say by what and until when. One statement."""
    found = standing() if effects else []
    if not found:
        return list(effects)
    going = []
    for effect in effects:
        if by := holding(effect, found):
            ends = [stop.until for stop in by]
            due = None if None in ends else max(end for end in ends if end)
            effect.block(reason="hold", blocked_by=[_told(stop) for stop in by], due_at=due)
            stopped.append(effect)
        else:
            going.append(effect)
    return going


def _told(stop: Stop) -> dict[str, Any]:
    return {"stop": str(stop.id), "on": stop.on, "until": stop.until.isoformat() if stop.until else None}


def holding(effect: Effect, stops: Iterable[Stop]) -> list[Stop]:
    """Those of `stops` that hold this effect. `effect` comes with its tool, run, workflow and agent."""
    targets = _targets(effect)
    return [stop for stop in stops if targets.get(stop.target) == stop.name]


def _targets(effect: Effect) -> Mapping[str, str]:
    """The name under which each kind of stop would hold it."""
    run = effect.run
    found = {
        Target.EVERYTHING.value: "",
        Target.TOOL.value: effect.tool.name,
        Target.WORKFLOW.value: run.workflow.name,
        Target.SUBJECT.value: f"{run.subject_type}:{run.subject_id}",
    }
    # An agent that is frozen asks for nothing more; what it did is undone and made good all the same.
    return {**found, Target.AGENT.value: effect.agent.name} if effect.forward else found

"""Conducts the verbs: claims, calls, records, looks and advances until nothing is due. Run by tasks and tests.

Verbs don't call each other; their order is here. Calls run in threads that know no database.
"""

from __future__ import annotations

import datetime as dt
import queue
import time
import uuid
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from django.db import connection

from config.house import disk
from workflows import salvage
from workflows.authority import approvals, credentials
from workflows.engine import call, image, look, peek, refresh, release
from workflows.engine.advance import advance
from workflows.engine.dispatch import dispatch
from workflows.engine.parts import promises
from workflows.engine.reconcile import reconcile
from workflows.engine.recover import recover
from workflows.models import Effect
from workflows.states import LOOKED_AT_SQL

SLOTS = 128  # calls under way at once in one drain
RECOVER_EVERY = 1.0  # seconds between searches for lost leases, and for workers of this host that died
PEEK_EVERY = 0.25  # seconds between searches for targets that a person wants read; they wait for it
PEEKS = 8  # such reads at once: people wait for few, and looks come first
IDLE_LOOK = 1.0  # seconds: the longest sleep, for what no bell rang for
GATHER = 0.004  # seconds to let more answers come in before one transaction records them
HELD_BY_OTHERS = 0.02  # seconds before what somebody else holds is tried again
MANY = 8  # calls under way from which on gathering pays


class Drain:
    """One drain; `bell` may be put to from any thread to wake it."""

    def __init__(self, slots: int = SLOTS) -> None:
        self.slots = slots
        self.bell: queue.SimpleQueue[str] = queue.SimpleQueue()
        # Sends and looks have slots of their own: neither waits behind the other.
        self._pool = ThreadPoolExecutor(2 * slots, thread_name_prefix="call")
        self._sends: dict[Future[Any], Effect] = {}
        self._images: dict[Future[Any], Effect] = {}
        self._looks: dict[Future[Any], tuple[Effect, dt.datetime]] = {}
        self._peeks: dict[Future[Any], peek.Read] = {}
        self._peeked = 0.0
        self._full: set[uuid.UUID] = set()  # tools whose slots were taken when last tried
        self._recovered = 0.0
        self._tokens: dict[Future[Any], refresh.Asked] = {}
        self._renewed = 0.0

    def turn(self, *, claim: bool = True) -> bool:
        """One round of everything that is due; whether anything was done. With `claim` false nothing new is begun."""
        did = self._record(claim=claim)
        if time.monotonic() - self._recovered > RECOVER_EVERY:
            self._recovered = time.monotonic()
            did |= bool(salvage.again(recover, dead_holders=True))
            salvage.again(approvals.sweep)
            promises.refresh()
            did |= bool(salvage.again(reconcile))
        if claim:
            did |= bool(salvage.again(release.release, self.slots))
        did |= bool(self._advance())
        if claim:
            did |= self._send()
            did |= self._look()
            did |= self._renew()
            if time.monotonic() - self._peeked > PEEK_EVERY:
                self._peeked = time.monotonic()
                did |= self._peek()
        return did

    def _advance(self) -> int:
        """A run that can't be advanced must not stop the others: they go one by one, and it is set aside, aloud."""
        try:
            return len(salvage.again(advance))
        except salvage.SINGLE_OUT:
            return salvage.advance_one_by_one()

    @property
    def under_way(self) -> int:
        return len(self._sends) + len(self._images) + len(self._looks) + len(self._peeks) + len(self._tokens)

    def until_idle(self, seconds: float = 30.0) -> None:
        """Goes on until nothing is under way and nothing is due within a second. `TimeoutError` after `seconds`."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.turn():
                continue
            wait = next_due()
            if not self.under_way and (wait is None or wait > IDLE_LOOK):
                return
            self.rest(wait)
        raise TimeoutError(f"still busy after {seconds} s")

    def rest(self, wait: float | None) -> None:
        """Sleeps after a turn that did nothing, `wait` seconds or until a bell. What is due and could not be taken is
        held by somebody for a moment, or waits for a slot of its tool, or for room on the disk."""
        self.wait(IDLE_LOOK if wait is None or disk.low() else min(max(wait, HELD_BY_OTHERS), IDLE_LOOK))
        self._full.clear()

    def wait(self, seconds: float) -> None:
        """Sleeps until a bell rings or an answer comes."""
        try:
            self.bell.get(timeout=max(seconds, 0.001))
        except queue.Empty:
            return
        if self.under_way >= MANY:
            time.sleep(GATHER)
        while not self.bell.empty():
            self.bell.get_nowait()

    def close(self) -> None:
        """Lets calls under way end and records them."""
        while self.under_way:
            self._record(claim=False)
            if self.under_way:
                self.wait(IDLE_LOOK)
        self._pool.shutdown()

    def _send(self) -> bool:
        free = self.slots - len(self._sends) - len(self._images)
        if free <= 0 or disk.low():
            return False
        effects = salvage.again(dispatch, free, self._full)
        if not effects:
            return False
        first = [effect for effect in effects if image.wants(effect)]
        for effect, future in image.begin(first, self._pool, began(effects)) if first else ():
            self._images[future] = effect
            future.add_done_callback(self._ring)
        self._call([effect for effect in effects if effect not in first])
        return True

    def _call(self, effects: list[Effect]) -> None:
        for effect, future in call.begin(effects, self._pool, began(effects)) if effects else ():
            self._sends[future] = effect
            future.add_done_callback(self._ring)

    def _look(self) -> bool:
        free = self.slots - len(self._looks)
        if free <= 0:
            return False
        effects = salvage.again(look.claim, free)
        self._ask(effects)
        return bool(effects)

    def _ask(self, effects: list[Effect]) -> None:
        if not effects:
            return
        jobs, begun = look.begin(effects, self._pool)
        for effect, future in jobs:
            self._looks[future] = (effect, begun)
            future.add_done_callback(self._ring)

    def _peek(self) -> bool:
        """Reads targets for people who are asked; few at a time, and in the slots of looks."""
        free = min(self.slots - len(self._looks), PEEKS) - len(self._peeks)
        wanted = salvage.again(peek.claim, free) if free > 0 else []
        for read, future in peek.begin(wanted, self._pool) if wanted else ():
            self._peeks[future] = read
            future.add_done_callback(self._ring)
        return bool(wanted)

    def _renew(self) -> bool:
        """Asks for tokens that somebody needs: at once where somebody in this process does, else now and then."""
        if not credentials.wanted.is_set() and time.monotonic() - self._renewed < RECOVER_EVERY:
            return False
        self._renewed = time.monotonic()
        asked = salvage.again(refresh.claim)
        for one, future in refresh.begin(asked, self._pool):
            self._tokens[future] = one
            future.add_done_callback(self._ring)
        return bool(asked)

    def _ring(self, _future: Future[Any]) -> None:
        self.bell.put("answer")

    def _record(self, *, claim: bool) -> bool:
        seen = one_each({future: effect for future, (effect, _) in self._looks.items()})
        if seen:
            if left := salvage.again(look.record, [(self._looks[f][0], f.result(), self._looks[f][1]) for f in seen]):
                salvage.again(look.anew, left)
            for future in seen:
                del self._looks[future]
        sent = one_each(self._sends)
        if sent:
            self._full.clear()
            free = max(self.slots - len(self._looks), 0) if claim else 0
            mine = salvage.record_all([(self._sends[f], f.result()) for f in sent], looks=free)
            for future in sent:
                del self._sends[future]
            self._ask(mine)
        images = one_each(self._images)
        if images:
            kept, not_sent = salvage.again(image.keep, [(self._images.pop(f), f.result()) for f in images])
            salvage.record_all(list(not_sent))
            self._call(kept)
        peeked = [future for future in self._peeks if future.done()]
        if peeked:
            salvage.again(peek.record, [(self._peeks.pop(future), future.result()) for future in peeked])
        renewed = [future for future in self._tokens if future.done()]
        if renewed:
            salvage.again(refresh.record, [(self._tokens[future], future.result()) for future in renewed])
            for future in renewed:
                del self._tokens[future]
        return bool(sent or seen or images or peeked or renewed)


def one_each(jobs: dict[Future[Any], Effect]) -> list[Future[Any]]:
    """Those that are answered, one for each effect: a row can be written once in a set. The call that was given up may
    be answered together with the one that was made instead; the second answer waits for the next round."""
    done = {jobs[future].id: future for future in reversed(jobs) if future.done()}
    return [*done.values()][::-1]


def began(effects: list[Effect]) -> dt.datetime:
    """When they were dispatched; of several times the earliest."""
    started: dt.datetime = min(effect.sending.started_at for effect in effects)
    return started


NEXT = f"""
SELECT extract(epoch FROM least(
  (SELECT min(advance_at) FROM workflows_run WHERE advance_at IS NOT NULL),
  (SELECT min(at) FROM workflows_wake),
  (SELECT min(due_at) FROM workflows_effect WHERE state = 'ready'),
  (SELECT min(due_at) FROM workflows_effect WHERE due_at IS NOT NULL
     AND state IN ({LOOKED_AT_SQL})
     AND NOT (state = 'blocked' AND reason = 'order')),
  (SELECT min(lease_until) FROM workflows_effect WHERE state = 'dispatched'),
  (SELECT min(next_at) FROM workflows_gauge),
  (SELECT min(read_due) FROM workflows_approval WHERE state = 'asked' AND read_due IS NOT NULL)
) - clock_timestamp())
"""  # noqa: S608  states of ours


def next_due() -> float | None:
    """Seconds until something is due (0 or less: now); None if nothing is."""
    with connection.cursor() as cursor:
        cursor.execute(NEXT)
        value = cursor.fetchone()[0]
    return None if value is None else float(value)


def drain_once(slots: int = SLOTS) -> None:
    """Works until nothing is due, then lets go. For commands and tests."""
    drain = Drain(slots)
    try:
        drain.until_idle()
    finally:
        drain.close()

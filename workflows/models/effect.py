"""The effect: one externally visible act. `state` says who moves next, `world` says what was last proved.

Moves change fields of the instance only; `workflows.ledger` writes them, with the same source states in its WHERE.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

from workflows.outcomes import reference
from workflows.states import EffectState, World

from .effect_facts import EffectFacts
from .fields import effect_move

S, W = EffectState, World


class Effect(EffectFacts):
    # For the ledger: the move made since the row was read, what it was read as, and what the entry should tell.
    event: str = ""
    payload: dict[str, Any] | None = None
    was_state: str = ""
    was_fence: int = 0
    was_seq: int = 0
    was: dict[str, Any] | None = None
    sending: Any = None  # the attempt under way, in the process that makes it
    limited: bool = False  # there are budgets, as was read when it was to leave
    reserved: bool = False  # something of them, for the attempt under way
    approval: Any = None  # the one it goes under, in the process that dispatches it

    def __str__(self) -> str:
        return f"{self.kind} {self.id} {self.state}"

    @classmethod
    def from_db(cls, db: Any, field_names: Any, values: Any, **options: Any) -> Effect:
        effect = super().from_db(db, field_names, values, **options)
        effect.remember()
        return effect

    def remember(self) -> None:
        """Keeps what the row was read as: a move is written only while that still holds, and of it what changed."""
        facts = self.__dict__
        facts.pop("was", None)
        self.was_state, self.was_fence, self.was_seq = facts["state"], facts["fence"], facts["seq"]
        self.was = facts.copy()

    def twin(self) -> Effect:
        """The same row in memory once more: what is done to it leaves this one as it is."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other

    def note(self) -> None:
        """Says that only knowledge changed, not the state; the ledger journals it."""
        self.event = "note"

    # Moves, in the order of an effect's life.

    def _rest(self) -> None:
        self.due_at = self.lease_until = None
        self.holder = ""

    def _why(self, reason: str, detail: str = "") -> None:
        self.reason, self.detail = reason, detail
        self.blocked_by = []

    @effect_move("release")
    def release(self, *, due_at: dt.datetime) -> None:
        self._why("")
        self.due_at = due_at

    @effect_move("block")
    def block(self, *, reason: str, blocked_by: list[Any], due_at: dt.datetime | None = None) -> None:
        self._why(reason)
        self.blocked_by, self.due_at = blocked_by, due_at

    @effect_move("adopt")
    def adopt(self, *, result: dict[str, Any], at: dt.datetime, met: bool = False) -> None:
        """`met`: it is as asked, but somebody else's; it is never undone."""
        self._why("met" if met else "adopted")
        self._rest()
        self._seen(result, at)

    @effect_move("cancel")
    def cancel(self, *, reason: str, detail: str = "") -> None:
        self._why(reason, detail)
        self._rest()

    @effect_move("dispatch")
    def dispatch(self, *, now: dt.datetime, lease_until: dt.datetime, holder: str) -> None:
        self._why("")
        self.fence += 1
        self.attempts += 1
        self.unanswered += 1
        self.world = W.UNKNOWN.value
        self.lease_until, self.holder, self.due_at = lease_until, holder, None
        self.first_sent_at = self.first_sent_at or now
        self.poll = None

    @effect_move("give_back")
    def give_back(self, *, due_at: dt.datetime, reason: str, detail: str, sent: bool) -> None:
        """Nothing happened. What was not sent is not counted as a send."""
        self._why(reason, detail)
        self._rest()
        self.world = W.NOTHING.value
        self.due_at = due_at
        if not sent:
            self.attempts -= 1
            self.backoffs += 1

    @effect_move("acknowledge")
    def acknowledge(self, *, result: dict[str, Any]) -> None:
        self._why("")
        self._rest()
        self.result, self.external_ref = result, reference(result)
        self.misses = self.backoffs = 0

    @effect_move("pend")
    def pend(self, *, poll: dict[str, Any], due_at: dt.datetime, until: dt.datetime) -> None:
        self._why("")
        self._rest()
        self.poll, self.due_at, self.looks_until = poll, due_at, until
        self.backoffs = 0

    @effect_move("lose")
    def lose(self, *, reason: str, detail: str, lost_lease: bool = False) -> None:
        """Nobody knows what this send did."""
        self._why(reason, detail)
        self._rest()
        self.doubt, self.world = True, W.UNKNOWN.value
        self.misses = self.backoffs = 0
        if lost_lease:
            self.fence += 1
            self.lost_lease = True

    @effect_move("verify")
    def verify(self, *, result: dict[str, Any], at: dt.datetime) -> None:
        self._why("")
        self._rest()
        self._seen(result, at)

    def _seen(self, result: dict[str, Any], at: dt.datetime) -> None:
        self.doubt = False
        self.world, self.verified_at = W.PRESENT.value, at
        self.result = {**(self.result or {}), **result}
        self.external_ref = reference(self.result)

    @effect_move("resend")
    def resend(self, *, due_at: dt.datetime, absent: bool) -> None:
        """The same request with the same key: proved absent, or the provider knows our key."""
        self._why("absent" if absent else "same_key")
        self.due_at = due_at
        self.misses = self.backoffs = 0
        if absent:
            self.doubt, self.world = False, W.NOTHING.value

    @effect_move("fail")
    def fail(self, *, reason: str, detail: str) -> None:
        self._why(reason, detail)
        self._rest()
        self.doubt, self.world = False, W.NOTHING.value

    @effect_move("undo")
    def undo(self, *, seen_gone: bool) -> None:
        self._why("")
        self._rest()
        self.world = W.GONE.value if seen_gone else W.UNKNOWN.value

    @effect_move("stick")
    def stick(self, *, reason: str, detail: str, world: str = "", blocked_by: list[Any] | None = None) -> None:
        self._why(reason, detail)
        self._rest()
        self.blocked_by = blocked_by or []
        if world:
            self.world = world

    # What a person's act says of a stuck effect; each raises the fence, so that nothing begun before counts.

    @effect_move("look_again")
    def look_again(self, *, now: dt.datetime, until: dt.datetime) -> None:
        self._why("look_again")
        self.fence += 1
        self.misses = self.backoffs = self.unanswered = self.unseen = 0
        self.due_at, self.looks_until = now, until

    @effect_move("find")
    def find(self, *, result: dict[str, Any], at: dt.datetime) -> None:
        self._why("found_by_person")
        self.fence += 1
        self.verifiable = True  # somebody looked, where the engine had no way to
        self._rest()
        self._seen(result, at)

    @effect_move("clear")
    def clear(self, *, detail: str, reason: str = "absent_by_person") -> None:
        self._why(reason, detail)
        self.fence += 1
        self._rest()
        self.world = W.NOTHING.value

    @effect_move("try_again")
    def try_again(self, *, due_at: dt.datetime) -> None:
        self._why("")
        self.fence += 1
        self.attempts = self.misses = self.backoffs = self.unanswered = self.unseen = 0
        self.due_at = due_at

    @effect_move("write_off")
    def write_off(self, *, detail: str) -> None:
        self._why("written_off", detail)
        self.fence += 1
        self._rest()

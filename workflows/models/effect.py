"""The effect: one externally visible act. `state` says who moves next, `world` says what was last proved.

Moves change fields of the instance only; `workflows.ledger` writes them, with the same source states in its WHERE.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models

from workflows.outcomes import reference
from workflows.states import A_ROUND, LOOKED_AT, REST, UNCHECKED, EffectState, Kind, World

from .agent import ALL, Agent
from .catalog import Tool
from .fields import StateField, choices, effect_move, json_field, new_id
from .run import Run
from .step import Step

S, W = EffectState, World
EVERYTHING = " ".join(ALL)


class Effect(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="effects")
    step = models.ForeignKey(Step, on_delete=models.PROTECT, related_name="effects", db_index=False)
    # Copied from run and step. Rows that can't be deleted need no check at each insert, which would lock them too.
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, db_index=False, db_constraint=False)
    tool = models.ForeignKey(Tool, on_delete=models.PROTECT, db_index=False, db_constraint=False)
    kind = models.CharField(max_length=20, choices=choices(Kind))
    ordinal = models.PositiveIntegerField()
    epoch = models.BigIntegerField()
    generation = models.PositiveSmallIntegerField(default=0)  # of an undoing: round and place, see `place`
    compensates = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, related_name="compensations", db_index=False
    )

    makes_good = models.ForeignKey(  # of a remedy: what of the same run it makes good, where it is one act
        "self", on_delete=models.PROTECT, null=True, related_name="remedies", db_index=False
    )

    # What is asked, frozen.
    arguments = json_field(dict)
    key = models.CharField(max_length=26)
    digest = models.CharField(max_length=64)
    scopes = ArrayField(models.CharField(max_length=500), default=list)
    effect_class = models.CharField(max_length=30)
    owner = models.CharField(max_length=100)
    customer_visible = models.BooleanField()
    residue = models.TextField(blank=True)
    value = json_field()
    reads = json_field()  # what it is based on: steps that read, with the versions they read; None for nothing
    on_behalf_of = models.CharField(max_length=100, blank=True)
    # What it is aimed at, and what of it stems from untrusted content; see `workflows.origins`.
    origin = json_field(list)
    targets = json_field(list)
    reach = models.PositiveIntegerField(default=0)  # different targets of its run, these included
    chain_class = models.CharField(max_length=30, blank=True)  # the gravest among the steps of its run
    profile_digest = models.CharField(max_length=32, blank=True)
    implementation = models.CharField(max_length=32, blank=True)
    accepted = models.CharField(max_length=60, blank=True)  # the trouble of its version that a person accepted

    # Where it stands.
    state = StateField(default=S.READY.value, choices=choices(EffectState), protected=True)
    world = models.CharField(max_length=20, choices=choices(World), default=W.NOTHING.value)
    reason = models.CharField(max_length=50, blank=True)
    detail = models.TextField(blank=True)
    blocked_by = json_field(list)
    due_at = models.DateTimeField(null=True)
    fence = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    holder = models.CharField(max_length=200, blank=True)

    # What is known of its sends and looks.
    attempts = models.PositiveIntegerField(default=0)
    first_sent_at = models.DateTimeField(null=True)
    doubt = models.BooleanField(default=False)  # some send ended unknown and no look has settled it
    lost_lease = models.BooleanField(default=False)
    # Handed to a worker so many times in a row without anything coming back; raised before it is handed over.
    unanswered = models.PositiveSmallIntegerField(default=0)  # sends
    unseen = models.PositiveSmallIntegerField(default=0)  # looks
    believe_miss_from = models.DateTimeField(null=True)
    late_until = models.DateTimeField(null=True)
    misses = models.PositiveIntegerField(default=0)
    backoffs = models.PositiveIntegerField(default=0)
    looks_until = models.DateTimeField(null=True)
    # Where its last look or poll got no answer: since which one on none did, and why the last one didn't.
    unreached_since = models.DateTimeField(null=True)
    unreached = models.TextField(blank=True)
    asked = models.BooleanField(default=False)  # a natural key's world was asked before the send
    result = json_field()
    before = json_field()
    poll = json_field()
    external_ref = models.CharField(max_length=500, blank=True)
    verifiable = models.BooleanField()
    verified_at = models.DateTimeField(null=True)
    granted = models.CharField(max_length=40, default=EVERYTHING)  # the agent's rights when it was sent last

    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    progress_at = models.DateTimeField(null=True)  # its last move that was more than waiting
    seq = models.PositiveIntegerField(default=0)
    head = models.CharField(max_length=64, blank=True)

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

    class Meta:
        ordering = ("ordinal", "id")
        constraints = (
            models.UniqueConstraint(fields=["key"], name="one_effect_per_key"),
            models.CheckConstraint(condition=models.Q(state__in=[s.value for s in S]), name="effect_state_known"),
            models.CheckConstraint(condition=models.Q(world__in=[w.value for w in W]), name="effect_world_known"),
            models.CheckConstraint(
                condition=~models.Q(state=S.VERIFIED.value)
                | models.Q(verified_at__isnull=False, verifiable=True, world=W.PRESENT.value),
                name="verified_has_evidence",
            ),
            models.CheckConstraint(
                condition=~models.Q(state=S.DISPATCHED.value)
                | models.Q(lease_until__isnull=False, attempts__gt=0, fence__gt=0),
                name="dispatched_has_lease_and_attempt",
            ),
            models.CheckConstraint(
                condition=models.Q(kind=Kind.COMPENSATION.value, compensates__isnull=False)
                | (~models.Q(kind=Kind.COMPENSATION.value) & models.Q(compensates__isnull=True)),
                name="compensation_names_its_effect",
            ),
            models.CheckConstraint(
                condition=models.Q(kind=Kind.REMEDY.value) | models.Q(makes_good__isnull=True),
                name="only_remedies_make_good",
            ),
            models.CheckConstraint(
                condition=~models.Q(state__in=[S.FAILED.value, S.CANCELLED.value]) | models.Q(world=W.NOTHING.value),
                name="failed_and_cancelled_left_nothing",
            ),
            models.CheckConstraint(
                condition=~models.Q(state=S.FAILED.value) | models.Q(kind=Kind.FORWARD.value),
                name="only_forward_effects_fail",
            ),
            models.UniqueConstraint(
                fields=["compensates"],
                condition=models.Q(compensates__isnull=False) & ~models.Q(state__in=[S.CANCELLED.value]),
                name="one_live_compensation",
            ),
        )
        indexes = (
            models.Index(
                fields=["epoch", "ordinal", "id"], name="effect_ready", condition=models.Q(state=S.READY.value)
            ),
            models.Index(
                fields=["due_at"],
                name="effect_to_look_at",
                condition=models.Q(state__in=[s.value for s in LOOKED_AT]) & models.Q(due_at__isnull=False),
            ),
            models.Index(fields=["lease_until"], name="effect_leased", condition=models.Q(state=S.DISPATCHED.value)),
            models.Index(
                fields=["epoch", "ordinal"],
                name="effect_waits_in_order",
                condition=models.Q(state=S.BLOCKED.value, reason="order"),
            ),
            models.Index(fields=["id"], name="effect_held", condition=models.Q(state=S.BLOCKED.value, reason="hold")),
            models.Index(
                fields=["epoch", "ordinal"],
                name="effect_waits_for_budget",
                condition=models.Q(state=S.BLOCKED.value, reason="budget"),
            ),
            models.Index(
                fields=["tool", "epoch", "ordinal"],
                name="effect_waits_for_tool",
                condition=models.Q(state=S.BLOCKED.value, reason__in=["rate", "breaker"]),
            ),
            models.Index(fields=["changed_at"], name="effect_stuck", condition=models.Q(state=S.STUCK.value)),
            models.Index(
                fields=["unreached_since", "id"],
                include=["tool", "agent"],
                name="effect_unchecked",
                condition=models.Q(unreached_since__isnull=False, state__in=[s.value for s in UNCHECKED]),
            ),
            models.Index(fields=["compensates"], name="effect_undoing", condition=models.Q(compensates__isnull=False)),
            models.Index(fields=["on_behalf_of", "-id"], name="effect_for", condition=~models.Q(on_behalf_of="")),
            models.Index(
                fields=["external_ref"],
                name="effect_by_their_name",
                condition=models.Q(state__in=[s.value for s in (S.VERIFIED, *sorted(REST))])
                & ~models.Q(external_ref=""),
            ),
        )

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

    # Facts that policies and pages ask for.

    @property
    def at_rest(self) -> bool:
        return self.state in REST

    @property
    def settled(self) -> bool:
        """Verified; or acknowledged and not verifiable."""
        return self.state == S.VERIFIED or (self.state == S.ACKNOWLEDGED and not self.verifiable)

    @property
    def irreversible(self) -> bool:
        return self.effect_class == "irreversible"

    @property
    def read_only(self) -> bool:
        return self.effect_class == "read_only"

    @property
    def met(self) -> bool:
        """Whether it stood there before us, so that nothing of it is ours to undo or to state."""
        return self.state == S.VERIFIED and self.reason == "met"

    @property
    def forward(self) -> bool:
        return self.kind == Kind.FORWARD

    @property
    def remedy(self) -> bool:
        return self.kind == Kind.REMEDY

    @property
    def open(self) -> bool:
        """Whether somebody still has to move: neither settled nor at rest."""
        return not (self.settled or self.at_rest)

    @property
    def operation(self) -> str:
        """Which part of its tool an effect performs. A fallback is another tool, whose act is the undoing."""
        return "compensate" if self.kind == Kind.COMPENSATION and self.place == 0 else "execute"

    @property
    def place(self) -> int:
        """Of an undoing: 0 its tool's own, then the fallbacks."""
        return self.generation % A_ROUND

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

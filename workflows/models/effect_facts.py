"""What is known of an effect: its columns, what the database refuses of them, and what follows. Its moves: `effect`."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from workflows.states import A_ROUND, LOOKED_AT, REST, UNCHECKED, EffectState, Kind, World

from .agent import ALL, Agent
from .catalog import Tool
from .fields import StateField, choices, json_field, new_id
from .run import Run
from .step import Step

S, W = EffectState, World
EVERYTHING = " ".join(ALL)


class EffectFacts(models.Model):
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
        "workflows.Effect", on_delete=models.PROTECT, null=True, related_name="compensations", db_index=False
    )

    makes_good = models.ForeignKey(  # of a remedy: what of the same run it makes good, where it is one act
        "workflows.Effect", on_delete=models.PROTECT, null=True, related_name="remedies", db_index=False
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

    class Meta:
        abstract = True
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

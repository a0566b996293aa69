"""An approval: what persons were asked about one effect, over a digest of exactly what they saw, and what they said."""

from __future__ import annotations

import datetime as dt
import enum
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from .agent import Agent
from .effect import Effect
from .fields import StateField, choices, json_field, named, new_id
from .run import Run


class ApprovalState(enum.StrEnum):
    ASKED = "asked"
    GRANTED = "granted"
    REFUSED = "refused"
    EXPIRED = "expired"
    VOID = "void"
    SPENT = "spent"


A = ApprovalState
LIVE = (A.ASKED.value, A.GRANTED.value)
IN_FORCE = (A.ASKED.value, A.GRANTED.value, A.SPENT.value)


class Approval(models.Model):
    """`fields`: what the digest is over; `approvers`: a role, or a list of logins; `target`: what was last read of the
    target, {"image", "version", "at", "by", "verdict"}, with its "first" read and, where the last one "failed", why;
    `origin`: paths of arguments that stem from untrusted content; `question`: what an approver must answer first,
    {"ask", "answer"}; `round`: how often this effect was asked for; `fence`: the effect's when it was last sent under
    this approval."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    effect = models.ForeignKey(Effect, on_delete=models.PROTECT, related_name="approvals")
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="approvals")
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="approvals", db_index=False)

    # What is asked.
    digest = models.CharField(max_length=64)
    digest_version = models.PositiveSmallIntegerField()
    fields = json_field(dict)
    tool = models.CharField(max_length=200)
    act = models.CharField(max_length=20)  # forward | compensation | remedy
    effect_class = models.CharField(max_length=30)
    reason = models.CharField(max_length=100)  # the rule of the policy that asks
    why = models.TextField(blank=True)  # that rule's own words
    policy = models.CharField(max_length=120)
    origin = json_field(list)
    target = json_field()
    read_due = models.DateTimeField(null=True, default=timezone.now)  # when a drain is to read the target, if it is
    question = json_field()

    # Who is asked, and until when.
    approvers = json_field()
    needed = models.PositiveSmallIntegerField()
    round = models.PositiveSmallIntegerField(default=1)
    asked_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    # What became of it.
    state = StateField(default=A.ASKED.value, choices=choices(A), protected=True)
    void_reason = models.CharField(max_length=50, blank=True)
    detail = models.TextField(blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    spent_at = models.DateTimeField(null=True, blank=True)
    fence = models.PositiveIntegerField(default=0)
    changed_at = models.DateTimeField()
    seq = models.PositiveIntegerField(default=0)
    head = models.CharField(max_length=64, blank=True)

    event: str = ""
    payload: dict[str, Any] | None = None
    was_state: str = ""

    class Meta:
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(
                fields=["effect"], condition=models.Q(state__in=LIVE), name="one_live_approval_of_an_effect"
            ),
            models.CheckConstraint(condition=models.Q(state__in=[s.value for s in A]), name="approval_state_known"),
            models.CheckConstraint(
                condition=~models.Q(state=A.SPENT.value) | models.Q(spent_at__isnull=False, fence__gt=0),
                name="spent_approval_names_its_send",
            ),
            models.CheckConstraint(condition=models.Q(needed__gt=0), name="approval_needs_somebody"),
        )
        indexes = (
            models.Index(fields=["expires_at", "id"], name="approval_live", condition=models.Q(state__in=LIVE)),
            models.Index(fields=["state", "-id"], name="approval_by_state"),
            models.Index(fields=["agent", "-id"], name="approval_of_agent"),
            models.Index(
                fields=["read_due"],
                name="approval_to_be_read",
                condition=models.Q(state=A.ASKED.value, read_due__isnull=False),
            ),
        )

    def __str__(self) -> str:
        return f"approval of {self.act} {self.tool}"

    @classmethod
    def from_db(cls, *args: Any, **options: Any) -> Approval:
        approval = super().from_db(*args, **options)
        approval.remember()
        return approval

    def remember(self) -> None:
        self.was_state = self.__dict__.get("state", "")

    @property
    def live(self) -> bool:
        return self.state in LIVE

    @named("state", "grant", [A.ASKED.value], A.GRANTED.value)
    def grant(self, *, at: dt.datetime) -> None:
        self.decided_at = at

    @named("state", "refuse", [A.ASKED.value, A.GRANTED.value], A.REFUSED.value)
    def refuse(self, *, at: dt.datetime, detail: str) -> None:
        self.decided_at, self.detail = at, detail

    @named("state", "expire", [A.ASKED.value, A.GRANTED.value, A.SPENT.value], A.EXPIRED.value)
    def expire(self, *, at: dt.datetime) -> None:
        self.decided_at = self.decided_at or at

    @named("state", "void", [A.ASKED.value, A.GRANTED.value, A.SPENT.value], A.VOID.value)
    def void(self, *, at: dt.datetime, reason: str, detail: str = "") -> None:
        self.decided_at = self.decided_at or at
        self.void_reason, self.detail = reason, detail

    @named("state", "spend", [A.GRANTED.value, A.SPENT.value], A.SPENT.value)
    def spend(self, *, at: dt.datetime, fence: int) -> None:
        """By the first dispatch; by a later one of the same effect only while each before it did nothing."""
        self.spent_at = self.spent_at or at
        self.fence = fence


class ApprovalVote(models.Model):
    """One person's word. It counts only while `seen_digest` is the approval's digest: it is of what was seen."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    approval = models.ForeignKey(Approval, on_delete=models.PROTECT, related_name="votes")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="approval_votes")
    verdict = models.CharField(max_length=10)  # approve | refuse
    why = models.TextField(blank=True)
    at = models.DateTimeField()
    opened_at = models.DateTimeField(null=True, blank=True)
    seen_digest = models.CharField(max_length=64)
    alone = models.BooleanField(default=False)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=["approval", "by", "seen_digest"], name="one_vote_a_person_and_digest"),
        )

    def __str__(self) -> str:
        return f"{self.verdict} of {self.approval_id}"

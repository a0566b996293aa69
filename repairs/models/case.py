"""The case: what a person works on. One per run; `repairs.cases` opens and closes it in the run's own transaction."""

from __future__ import annotations

import datetime as dt
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models.functions import Now
from django_fsm import FSMField

from workflows.models import Agent, Run
from workflows.models.fields import choices, json_field, named, new_id
from workflows.states import CaseState

C = CaseState
LIVE = (C.OPEN.value, C.WAITING.value)
CLOSED = (C.RESOLVED.value, C.WRITTEN_OFF.value)


class CaseQuerySet(models.QuerySet["Case"]):
    def live(self) -> CaseQuerySet:
        return self.filter(state__in=LIVE)

    def claimed(self) -> CaseQuerySet:
        return self.filter(claimed_by__isnull=False, lease_until__gt=Now())

    def of(self, user_id: int) -> CaseQuerySet:
        return self.claimed().filter(claimed_by=user_id)


class Case(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    number = models.BigIntegerField(
        unique=True,
        editable=False,
        db_default=models.Func(models.Value("repairs_case_number"), function="nextval"),
    )
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="cases")
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="+", db_index=False)  # the run's, for ever
    state = FSMField(default=C.OPEN.value, choices=choices(CaseState), protected=True)

    # What it says, and where it stands in the queue.
    sentence = models.CharField(max_length=500)
    reasons = json_field(list)
    harm = models.CharField(max_length=20)  # a word of repairs.words.harm.Harm
    rank = models.PositiveSmallIntegerField()
    rank_reason = models.CharField(max_length=200)
    customers = models.PositiveIntegerField(default=0)
    value = json_field(list)
    owner = models.CharField(max_length=100)
    deadline = models.DateTimeField()
    cutoff = models.DateTimeField(null=True, blank=True)
    cutoff_reason = models.CharField(max_length=200, blank=True)
    hurts_at = models.DateTimeField(null=True, blank=True)  # when it hurts the customer, as far as a person said it
    signature = models.CharField(max_length=200, blank=True)  # what links cases of one cause: see repairs.words.cause
    found_by = models.TextField(blank=True)  # all that people search it by, in lower case

    # Who holds it.
    claimed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="claims"
    )
    lease_until = models.DateTimeField(null=True, blank=True)
    fence = models.PositiveIntegerField(default=0)

    # Until when it is set aside, and for which word of repairs.words.resting. Since when its time stands still for
    # that, and how long it did before; the deadline moves by as much once it goes on.
    snoozed_until = models.DateTimeField(null=True, blank=True)
    snooze_cause = models.CharField(max_length=20, blank=True)
    paused_since = models.DateTimeField(null=True, blank=True)
    paused = models.DurationField(default=dt.timedelta, db_default=dt.timedelta())

    # Who is to read it back before it is theirs; until then it is the holder's.
    handed_to = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="handed"
    )

    # To which role or team it was escalated, by whom (null: by the engine), and which part of its time the engine has
    # told of: 0, 50, 80 or 100 per cent.
    escalated_to = models.CharField(max_length=100, blank=True)
    escalated_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    time_told = models.PositiveSmallIntegerField(default=0)

    opened_at = models.DateTimeField()  # the last opening; the journal has all
    changed_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)
    reopened = models.PositiveIntegerField(default=0)
    reopened_why = models.CharField(max_length=300, blank=True)  # of the last time
    seq = models.PositiveIntegerField(default=0)
    head = models.CharField(max_length=64, blank=True)

    event: str = ""
    payload: dict[str, Any] | None = None
    was_state: str = ""  # as it stands in the database

    objects: ClassVar[Any] = CaseQuerySet.as_manager()

    class Meta:
        ordering = ("-number",)
        constraints = (
            models.UniqueConstraint(fields=["run"], condition=models.Q(state__in=LIVE), name="one_open_case_per_run"),
            models.CheckConstraint(condition=models.Q(state__in=[s.value for s in C]), name="case_state_known"),
            models.CheckConstraint(
                condition=models.Q(state__in=LIVE, closed_at__isnull=True)
                | models.Q(state__in=CLOSED, closed_at__isnull=False),
                name="case_is_closed_at_some_time_or_live",
            ),
            models.CheckConstraint(
                condition=models.Q(claimed_by__isnull=True, lease_until__isnull=True)
                | models.Q(claimed_by__isnull=False, lease_until__isnull=False, fence__gt=0),
                name="claim_is_a_lease_with_a_fence",
            ),
            models.CheckConstraint(
                condition=models.Q(snoozed_until__isnull=True, snooze_cause="")
                | (models.Q(state=C.WAITING.value, snoozed_until__isnull=False) & ~models.Q(snooze_cause="")),
                name="snoozed_case_waits_and_says_why",
            ),
            models.CheckConstraint(
                condition=models.Q(paused_since__isnull=True) | models.Q(snoozed_until__isnull=False),
                name="time_stands_still_only_while_set_aside",
            ),
            models.CheckConstraint(
                condition=models.Q(escalated_by__isnull=True) | ~models.Q(escalated_to=""),
                name="escalated_by_somebody_to_somebody",
            ),
        )
        indexes = (
            models.Index(fields=["rank", "cutoff", "id"], name="case_live", condition=models.Q(state__in=LIVE)),
            models.Index(fields=["signature", "id"], name="case_cause", condition=models.Q(state__in=LIVE)),
            models.Index(
                fields=["snoozed_until"], name="case_snoozed", condition=models.Q(snoozed_until__isnull=False)
            ),
            models.Index(fields=["agent", "-number"], name="case_of_agent"),
            GinIndex(OpClass("found_by", name="gin_trgm_ops"), name="case_found_by"),
        )

    def __str__(self) -> str:
        return self.name

    @classmethod
    def from_db(cls, *args: Any, **kwargs: Any) -> Case:
        case = super().from_db(*args, **kwargs)
        case.was_state = case.__dict__.get("state", "")
        return case

    @property
    def name(self) -> str:
        return f"C-{self.number}"

    @property
    def first_seen(self) -> dt.datetime:
        """When it was opened the first time, which its id tells."""
        return dt.datetime.fromtimestamp((self.id.int >> 80) / 1000, dt.UTC)

    @property
    def live(self) -> bool:
        return self.state in LIVE

    @property
    def as_of(self) -> str:
        """Where the histories of the case and of its run stand: a page that was made at another point is old."""
        return f"{self.seq}.{self.run.seq}"

    def holder_at(self, now: dt.datetime) -> int | None:
        """The id of the user whose claim is alive, if there is one."""
        if self.claimed_by_id is None or self.lease_until is None or self.lease_until <= now:
            return None
        return int(self.claimed_by_id)

    def snoozed_at(self, now: dt.datetime) -> bool:
        return self.snoozed_until is not None and self.snoozed_until > now

    @named("state", "wait", [C.OPEN.value], C.WAITING.value)
    def wait(self) -> None:
        """For somebody's answer, or until a later time."""

    def due_at(self, now: dt.datetime) -> dt.datetime:
        """Its deadline, as far away as it is now: while its time stands still it keeps its distance."""
        return self.deadline + (now - self.paused_since if self.paused_since else dt.timedelta())

    @named("state", "proceed", [C.WAITING.value], C.OPEN.value)
    def proceed(self, *, at: dt.datetime) -> None:
        """The answer came, the time is over, or it doesn't matter any more."""
        self._wake(at)

    @named("state", "resolve", list(LIVE), C.RESOLVED.value)
    def resolve(self, *, at: dt.datetime) -> None:
        self._close(at)

    @named("state", "write_off", list(LIVE), C.WRITTEN_OFF.value)
    def write_off(self, *, at: dt.datetime) -> None:
        self._close(at)

    @named("state", "reopen", list(CLOSED), C.OPEN.value)
    def reopen(self, *, at: dt.datetime) -> None:
        self.opened_at, self.closed_at, self.time_told = at, None, 0
        self.paused = dt.timedelta()
        self.reopened += 1

    def _close(self, at: dt.datetime) -> None:
        self.closed_at = at
        self.claimed_by = self.lease_until = self.handed_to = None
        self.escalated_to, self.escalated_by = "", None
        self.hurts_at = None
        self._wake(at)

    def _wake(self, at: dt.datetime) -> None:
        """Its time goes on: the deadline is as far away as when it stopped, but never beyond what would be too late."""
        if self.paused_since is not None:
            self.paused += at - self.paused_since
            self.deadline = self.due_at(at)
            if self.cutoff and self.cutoff > at:
                self.deadline = min(self.deadline, self.cutoff)
        self.snoozed_until, self.snooze_cause, self.paused_since = None, "", None

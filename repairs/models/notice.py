"""A notice: that one receiver is to be told of one thing, once. It keeps no address and nothing of what it is about."""

from __future__ import annotations

from django.db import models

from workflows.models.fields import choices, new_id


class What(models.TextChoices):
    APPROVAL = "approval"
    CASE = "case"
    DEADLINE = "deadline"
    WRITE_OFF = "write_off"
    TAKE_OVER = "take_over"
    ESCALATION = "escalation"
    HAND_OVER = "hand_over"
    BUDGET = "budget"
    CREDENTIAL = "credential"
    STOP = "stop"
    EXPIRING = "expiring"  # an approval that nobody has decided
    EXPIRED = "expired"  # and what it was for is not sent
    GLASS = "glass"  # one person did alone what takes two; and again where nobody reviewed it in time
    REMARK = "remark"  # a question about an approval, or its answer
    BATCH = "batch"  # one act on many cases that a second person is asked about
    PERSON = "person"  # somebody was made, or given or taken rights


class NoticeState(models.TextChoices):
    WAITING = "waiting"
    SENT = "sent"
    FAILED = "failed"  # every attempt was in vain; home and doctor say so
    MOOT = "moot"  # by the time it could be sent there was nothing to tell, or nobody to tell it to


class Notice(models.Model):
    """`to`: a receiver's key; `mark`: tells several notices of one subject apart, such as how near its deadline is."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    what = models.CharField(max_length=20, choices=choices(What))
    subject = models.UUIDField()
    team = models.CharField(max_length=100, blank=True)
    to = models.CharField(max_length=120)
    mark = models.CharField(max_length=30, blank=True)
    state = models.CharField(max_length=10, choices=choices(NoticeState), default=NoticeState.WAITING.value)
    attempts = models.PositiveSmallIntegerField(default=0)
    why = models.CharField(max_length=200, blank=True)  # the last attempt was in vain
    created_at = models.DateTimeField()
    due_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=["what", "subject", "to", "mark"], name="told_once"),
            models.CheckConstraint(condition=models.Q(state__in=NoticeState.values), name="notice_state_known"),
        )
        indexes = (
            models.Index(fields=["to", "id"], name="notice_waiting", condition=models.Q(state="waiting")),
            models.Index(fields=["created_at"], name="notice_age"),
        )

    def __str__(self) -> str:
        return f"{self.what} to {self.to}"

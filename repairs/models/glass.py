"""A broken glass: what one person did alone that takes two, why it couldn't wait, and what another said of it after."""

from __future__ import annotations

import datetime as dt

from django.conf import settings
from django.db import models

from workflows.models.fields import choices, new_id


class Broken(models.TextChoices):
    """What was done. `subject` is the id of that."""

    APPROVAL = "approval"
    BATCH = "batch"
    BUDGET = "budget"
    POLICY = "policy"
    STOP = "stop"
    WRITE_OFF = "write_off"


class Verdict(models.TextChoices):
    RIGHT = "right"
    WRONG = "wrong"


class Glass(models.Model):
    """Written with the act itself; afterwards only its review is added, by another person. `team`: whose agents it is
    about, "" for all. `said`: the act in words, as it was then."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    what = models.CharField(max_length=20, choices=choices(Broken))
    subject = models.UUIDField()
    team = models.CharField(max_length=100, blank=True)
    said = models.CharField(max_length=400)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    why = models.TextField()
    at = models.DateTimeField()
    due_at = models.DateTimeField()
    reviewed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+", db_index=False
    )
    reviewed_at = models.DateTimeField(null=True)
    verdict = models.CharField(max_length=10, choices=choices(Verdict), blank=True)
    words = models.TextField(blank=True)
    seq = models.PositiveIntegerField(default=0)
    head = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ("-id",)
        verbose_name_plural = "broken glasses"
        constraints = (
            models.CheckConstraint(
                condition=models.Q(reviewed_by__isnull=True, reviewed_at__isnull=True, verdict="", words="")
                | (
                    models.Q(reviewed_by__isnull=False, reviewed_at__isnull=False, verdict__in=Verdict.values)
                    & ~models.Q(reviewed_by=models.F("by"))
                ),
                name="a_review_is_another_person_s_and_whole",
            ),
            models.CheckConstraint(condition=models.Q(what__in=Broken.values), name="broken_glass_known"),
        )
        indexes = (
            models.Index(fields=["due_at", "id"], name="glass_to_review", condition=models.Q(reviewed_at__isnull=True)),
        )

    def __str__(self) -> str:
        return f"glass {self.id}"

    def late(self, now: dt.datetime) -> bool:
        return self.reviewed_at is None and self.due_at <= now

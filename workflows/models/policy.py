"""A version of the policy at the door: a document, unchangeable once it is active. `authority.policies` writes it."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.db import models

from .fields import StateField, json_field, named, new_id

DRAFT, ACTIVE, DISCARDED = "draft", "active", "discarded"


class Policy(models.Model):
    """One version. Of the active ones that with the latest `active_from` by the database's clock is in force.

    `drafted_by`, `activated_by`: as the journal names who did it; `differences`: of its last dry run."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=100)
    version = models.PositiveIntegerField()
    text = models.TextField()
    digest = models.CharField(max_length=64)
    state = StateField(default=DRAFT, protected=True, choices=[(s, s) for s in (DRAFT, ACTIVE, DISCARDED)])
    drafted_by = models.CharField(max_length=100)
    drafted_at = models.DateTimeField()
    why = models.TextField(blank=True)
    differences = json_field()
    activated_by = models.CharField(max_length=100, blank=True)
    activated_at = models.DateTimeField(null=True, blank=True)
    active_from = models.DateTimeField(null=True, blank=True)
    seq = models.PositiveIntegerField(default=0)
    head = models.CharField(max_length=64, blank=True)

    event: str = ""
    payload: dict[str, Any] | None = None

    class Meta:
        ordering = ("-id",)
        verbose_name_plural = "policies"
        constraints = (
            models.UniqueConstraint(fields=["name", "version"], name="one_policy_version"),
            models.CheckConstraint(
                condition=~models.Q(state=ACTIVE)
                | (models.Q(active_from__isnull=False, activated_at__isnull=False) & ~models.Q(activated_by="")),
                name="active_policy_has_its_time_and_person",
            ),
        )
        indexes = (
            models.Index(fields=["-active_from", "-id"], name="policy_in_force", condition=models.Q(state=ACTIVE)),
        )

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"

    @named("state", "activate", [DRAFT], ACTIVE)
    def activate(self, *, by: str, now: dt.datetime, at: dt.datetime) -> None:
        self.activated_by, self.activated_at, self.active_from = by, now, at

    @named("state", "discard", [DRAFT], DISCARDED)
    def discard(self) -> None:
        """It stays readable."""

"""Who has a case's page open, and what they must hear of it. A hint that comes and goes: it is no history."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from .case import Case


class Presence(models.Model):
    """`opened_at`: since when without a break. `taken_by`: who took the case from `user`, or answered their hand-over
    (`how`: taken, accepted, declined), until they say that they know.

    No foreign keys in the database: each would make a page that says it is open wait for acts on its case."""

    case = models.ForeignKey(Case, on_delete=models.CASCADE, related_name="presences", db_constraint=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    opened_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    taken_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        null=True,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    how = models.CharField(max_length=10, blank=True, db_default="")

    class Meta:
        constraints = (models.UniqueConstraint(fields=["case", "user"], name="present_once"),)
        indexes = (
            models.Index(fields=["user"], name="presence_taken", condition=models.Q(taken_by__isnull=False)),
            models.Index(fields=["seen_at"], name="presence_age"),
        )

    def __str__(self) -> str:
        return f"{self.user_id} at {self.case_id}"

"""A stretch of time in which somebody worked on a case, as their acts and their work on its page showed it."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from .case import Case


class Worked(models.Model):
    """`until` grows while the work goes on; see `repairs.worked`. Corrections are acts, and change no row here."""

    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="worked", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False)
    began = models.DateTimeField()
    until = models.DateTimeField()

    class Meta:
        verbose_name_plural = "worked"
        constraints = (
            models.CheckConstraint(condition=models.Q(until__gte=models.F("began")), name="worked_forwards"),
        )
        indexes = (models.Index(fields=["case", "user", "until"], name="worked_last"),)

    def __str__(self) -> str:
        return f"{self.user_id} on {self.case_id}"

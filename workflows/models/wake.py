"""A wake: a run whose effects moved, to be advanced. Gone once it was.

Beside the run and not in it, because a run's row is in many indexes, and each would be written for every wake.
"""

from __future__ import annotations

from django.db import models

from .run import Run


class Wake(models.Model):
    run = models.OneToOneField(Run, on_delete=models.PROTECT, primary_key=True, db_constraint=False)
    at = models.DateTimeField()

    class Meta:
        indexes = (models.Index(fields=["at"], name="wake_at"),)

    def __str__(self) -> str:
        return f"wake of run {self.run_id}"

"""The last sign of life of each drain: tells whether the queue works, not whether its processes exist."""

from __future__ import annotations

from django.db import models


class Beat(models.Model):
    slot = models.CharField(primary_key=True, max_length=200)  # host and number of the drain
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.slot

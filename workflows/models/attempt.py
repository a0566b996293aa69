"""An attempt: one send, written before the first byte leaves and completed when its answer is known."""

from __future__ import annotations

from django.db import models

from .effect import Effect
from .fields import json_field, new_id


class Attempt(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    effect = models.ForeignKey(Effect, on_delete=models.PROTECT, related_name="sends", db_constraint=False)
    number = models.PositiveIntegerField()
    fence = models.PositiveIntegerField()
    holder = models.CharField(max_length=200)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=20, blank=True)  # "" while nobody knows yet
    reason = models.TextField(blank=True)
    evidence = json_field(dict)
    key_place = models.CharField(
        max_length=64, blank=True
    )  # a print of where its key is one key, where that is declared
    stale = models.BooleanField(default=False)  # its answer came after its lease was lost

    began: float = 0.0  # in the process that sends: the monotonic clock when the lease began

    class Meta:
        ordering = ("id",)
        indexes = (models.Index(fields=["effect"], name="attempt_of_effect"),)

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.effect_id}"

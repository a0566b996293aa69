"""A look: one read of the authoritative state, with what it showed and whether it counted."""

from __future__ import annotations

from django.db import models

from .effect import Effect
from .fields import json_field, new_id


class Look(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    effect = models.ForeignKey(Effect, on_delete=models.PROTECT, related_name="looks", db_constraint=False)
    fence = models.PositiveIntegerField()
    begun_at = models.DateTimeField()
    ended_at = models.DateTimeField()
    verdict = models.CharField(max_length=20)
    reason = models.TextField(blank=True)
    reached = models.BooleanField(default=True)
    counted = models.BooleanField(default=True)
    stale = models.BooleanField(default=False)
    evidence = json_field(dict)

    class Meta:
        ordering = ("id",)
        indexes = (models.Index(fields=["effect"], name="look_at_effect"),)

    def __str__(self) -> str:
        return f"{self.verdict} for {self.effect_id}"

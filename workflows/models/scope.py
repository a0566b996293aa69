"""Scopes: who is at a resource now (one at a time, the primary key says so), and who ever was."""

from __future__ import annotations

from django.db import models

from .effect import Effect
from .fields import new_id


class ScopeHold(models.Model):
    scope = models.CharField(primary_key=True, max_length=500)
    effect = models.ForeignKey(Effect, on_delete=models.PROTECT, related_name="holds")
    since = models.DateTimeField()

    def __str__(self) -> str:
        return self.scope


class ScopeUse(models.Model):
    """One row per scope of an effect at its first dispatch: finds the later effects that stand on an earlier one."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    scope = models.CharField(max_length=500)
    effect = models.ForeignKey(Effect, on_delete=models.PROTECT, related_name="uses")

    class Meta:
        indexes = (models.Index(fields=["scope"], name="uses_of_scope"),)

    def __str__(self) -> str:
        return self.scope

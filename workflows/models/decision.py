"""A decision: what policy said of one act, on which facts. Written for every attempt and each denial."""

from __future__ import annotations

from django.db import models

from .agent import Agent
from .effect import Effect
from .fields import json_field, new_id


class Decision(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, db_index=False, db_constraint=False)
    effect = models.ForeignKey(
        Effect, on_delete=models.PROTECT, null=True, related_name="decisions", db_constraint=False
    )
    act = models.CharField(max_length=200)
    verdict = models.CharField(max_length=10)  # allow | ask | deny
    policy = models.CharField(max_length=100)
    rule = models.CharField(max_length=100)
    reason = models.TextField(blank=True)
    inputs = json_field(dict)
    at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        indexes = (models.Index(fields=["agent", "-id"], name="decision_denied", condition=models.Q(verdict="deny")),)

    def __str__(self) -> str:
        return f"{self.verdict}: {self.act}"

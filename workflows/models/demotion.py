"""A demotion: one key made two objects, so this version of a tool counts as one whose provider knows no keys."""

from __future__ import annotations

from django.db import models

from .effect import Effect
from .fields import json_field, new_id


class Demotion(models.Model):
    """Stands until a person lifts it; another version of the tool is believed anew."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tool = models.CharField(max_length=200)
    version = models.PositiveIntegerField()
    effect = models.ForeignKey(
        Effect, on_delete=models.PROTECT, db_index=False, db_constraint=False, related_name="+"
    )  # where it was seen
    seen = json_field(dict)  # {"key": ours, "how": in words}
    at = models.DateTimeField()
    lifted_at = models.DateTimeField(null=True)
    lifted_by = models.CharField(max_length=100, blank=True)
    lift_reason = models.TextField(blank=True)
    seq = models.PositiveIntegerField(default=0)
    head = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(
                fields=["tool", "version"],
                condition=models.Q(lifted_at__isnull=True),
                name="one_standing_demotion_of_a_version",
            ),
        )

    def __str__(self) -> str:
        return f"{self.tool} v{self.version}"

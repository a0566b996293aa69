"""A team: who answers for agents. It may stand under another; who belongs to the upper one sees the lower one's."""

from __future__ import annotations

from django.db import models

from .fields import new_id

DEFAULT = "operations"  # of agents that nobody gave to another team; there from the first migration


class Team(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=100, unique=True)
    parent = models.ForeignKey("self", on_delete=models.PROTECT, null=True, blank=True, related_name="children")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name",)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(parent__isnull=True) | ~models.Q(parent=models.F("id")),
                name="team_is_not_above_itself",
            ),
        )

    def __str__(self) -> str:
        return self.name

"""A view of the queue that a person keeps under a name of their own. It holds what narrows, never rows."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from workflows.models.fields import new_id


class SavedView(models.Model):
    """`view` names one of `repairs.worklist.VIEWS`; `query` is what else stands in the page's address."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views")
    name = models.CharField(max_length=60)
    view = models.CharField(max_length=20)
    query = models.TextField(blank=True)
    saved_at = models.DateTimeField()

    class Meta:
        ordering = ("name", "id")
        constraints = (models.UniqueConstraint(fields=["user", "name"], name="a_saved_view_has_a_name_of_its_own"),)

    def __str__(self) -> str:
        return self.name

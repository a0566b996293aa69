"""What manifests declared: versions of tools and workflows. Rows never change but for `current` and being withdrawn."""

from __future__ import annotations

from typing import Any

from django.db import models

from .fields import json_field, new_id


class Declared(models.Model):
    """One version of something declared in a manifest; `spec` is its normalised form, `digest` is over that."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=200)
    version = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    spec = json_field(dict)
    owner = models.CharField(max_length=100)
    current = models.BooleanField(default=True)
    applied_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"


class Tool(Declared):
    """`withdrawn_at`: since when this version may not be called any more, by whom and why."""

    kind = models.CharField(max_length=20)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.CharField(max_length=100, blank=True)
    withdrawn_why = models.TextField(blank=True)

    class Meta:
        ordering = ("name", "-version")
        constraints = (
            models.UniqueConstraint(fields=["name", "version"], name="one_tool_version"),
            models.UniqueConstraint(
                fields=["name"], condition=models.Q(current=True), name="one_current_version_of_a_tool"
            ),
        )

    @property
    def profile(self) -> dict[str, Any]:
        return dict(self.spec.get("profile", {}))


class ToolAct(models.Model):
    """A version of a tool withdrawn or restored: by whom and why. Rows are only added, each with its entry."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tool = models.ForeignKey(Tool, on_delete=models.PROTECT, related_name="acts")
    what = models.CharField(max_length=10)  # withdraw | restore
    by = models.CharField(max_length=100)
    why = models.TextField()
    at = models.DateTimeField()
    seq = models.PositiveIntegerField(default=0)
    head = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.what} {self.tool_id}"


class Workflow(Declared):
    class Meta:
        ordering = ("name", "-version")
        constraints = (
            models.UniqueConstraint(fields=["name", "version"], name="one_workflow_version"),
            models.UniqueConstraint(
                fields=["name"], condition=models.Q(current=True), name="one_current_version_of_a_workflow"
            ),
        )

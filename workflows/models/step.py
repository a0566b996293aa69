"""A step: a decision to call a tool with arguments. Its result is the checkpoint that later steps read."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models

from workflows.states import StepState

from .catalog import Tool
from .fields import StateField, choices, json_field, named, new_id
from .run import Run

T = StepState
ANEW = "anew"  # why a step waits that was begun before, by an effect that did nothing
TWIN = "twin"  # why an effect was called off that would have been its step's second
RENAMED = "renamed"  # why one was called off that spoke of what is called otherwise by now
SUPERSEDED = (TWIN, RENAMED)  # no step follows such an effect


class Step(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="steps", db_index=False)  # by one_step_per_name
    name = models.CharField(max_length=100)
    ordinal = models.PositiveIntegerField()
    tool = models.ForeignKey(Tool, on_delete=models.PROTECT, db_index=False)
    after = ArrayField(models.CharField(max_length=100), default=list)
    template = json_field(dict)
    arguments = json_field()
    state = StateField(default=T.PENDING.value, choices=choices(StepState), protected=True)
    reason = models.CharField(max_length=50, blank=True)
    detail = models.TextField(blank=True)
    result = json_field()
    digest = models.CharField(max_length=64)
    remedy = models.BooleanField(default=False)  # a person added it to make good; nothing else depends on it
    created_at = models.DateTimeField()

    event: str = ""
    payload: dict[str, Any] | None = None

    class Meta:
        ordering = ("ordinal",)
        constraints = (
            models.UniqueConstraint(fields=["run", "name"], name="one_step_per_name"),
            models.CheckConstraint(condition=models.Q(state__in=[s.value for s in StepState]), name="step_state_known"),
        )

    def __str__(self) -> str:
        return self.name

    @named("state", "begin", [T.PENDING.value], T.ACTIVE.value)
    def begin(self, *, arguments: dict[str, Any]) -> None:
        self.arguments, self.reason = arguments, ""

    @named("state", "finish", [T.ACTIVE.value], T.DONE.value)
    def finish(self, *, result: dict[str, Any]) -> None:
        self.result = result

    @named("state", "fail", [T.PENDING.value, T.ACTIVE.value, T.DONE.value], T.FAILED.value)
    def fail(self, *, reason: str, detail: str = "") -> None:
        self.reason, self.detail = reason, detail

    @named("state", "resume", [T.FAILED.value, T.SKIPPED.value], T.PENDING.value)
    def resume(self) -> None:
        """It is begun anew, by another effect; what it spoke of may be called otherwise by now."""
        if self.template:
            self.arguments = None
        self.reason, self.detail = ANEW, ""

    @named("state", "renew", [T.ACTIVE.value], T.PENDING.value)
    def renew(self) -> None:
        """Its effect, which has not left, spoke of what is called otherwise by now."""
        self.arguments, self.reason, self.detail = None, ANEW, ""

    @named("state", "undo", [T.ACTIVE.value, T.DONE.value], T.UNDONE.value)
    def undo(self) -> None:
        self.reason = ""

    @named("state", "skip", [T.PENDING.value, T.ACTIVE.value], T.SKIPPED.value)
    def skip(self, *, reason: str) -> None:
        self.reason = reason

"""A stop: while it stands, nothing new is sent to a tool, for an agent, a workflow or a subject, or at all."""

from __future__ import annotations

import datetime as dt
import enum
from typing import Any

from django.db import models

from .fields import StateField, choices, named, new_id


class Target(enum.StrEnum):
    """What a stop holds; `name` says which one."""

    TOOL = "tool"
    AGENT = "agent"
    WORKFLOW = "workflow"
    SUBJECT = "subject"  # name: type:id
    EVERYTHING = "everything"


class StopState(enum.StrEnum):
    FROZEN = "frozen"
    LIFTED = "lifted"  # by a person
    ENDED = "ended"  # by its own time


F = StopState


class Stop(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    target = models.CharField(max_length=20, choices=choices(Target))
    name = models.CharField(max_length=301, blank=True)
    reason = models.TextField()
    cause = models.CharField(max_length=20, default="person")  # person | restored
    state = StateField(default=F.FROZEN.value, choices=choices(StopState), protected=True)
    second_person = models.BooleanField()  # who froze it can't be the one who lifts it
    frozen_by = models.CharField(max_length=100)
    frozen_at = models.DateTimeField()
    until = models.DateTimeField(null=True)  # by the database's clock; from then on it holds nothing
    lifted_by = models.CharField(max_length=100, blank=True)
    lifted_at = models.DateTimeField(null=True)
    lift_reason = models.TextField(blank=True)
    alone = models.BooleanField(default=False)  # lifted by who froze it, where two were asked for
    seq = models.PositiveIntegerField(default=0)
    head = models.CharField(max_length=64, blank=True)

    event: str = ""
    payload: dict[str, Any] | None = None

    class Meta:
        ordering = ("-id",)
        constraints = (
            models.CheckConstraint(condition=models.Q(state__in=[s.value for s in F]), name="stop_state_known"),
            models.CheckConstraint(condition=models.Q(target__in=[t.value for t in Target]), name="stop_target_known"),
            models.CheckConstraint(
                condition=models.Q(target=Target.EVERYTHING.value, name="")
                | (~models.Q(target=Target.EVERYTHING.value) & ~models.Q(name="")),
                name="stop_names_what_it_holds",
            ),
        )
        indexes = (models.Index(fields=["until"], name="stop_in_force", condition=models.Q(state=F.FROZEN.value)),)

    def __str__(self) -> str:
        return self.on

    @property
    def on(self) -> str:
        """What it holds, in words: "tool crm.create", "everything"."""
        return f"{self.target} {self.name}".strip()

    def stands(self, now: dt.datetime) -> bool:
        return self.state == F.FROZEN and (self.until is None or self.until > now)

    @named("state", "lift", [F.FROZEN.value], F.LIFTED.value)
    def lift(self, *, by: str, why: str, at: dt.datetime, alone: bool) -> None:
        self.lifted_by, self.lift_reason, self.lifted_at, self.alone = by, why, at, alone

    @named("state", "end", [F.FROZEN.value], F.ENDED.value)
    def end(self) -> None:
        self.lifted_at = self.until

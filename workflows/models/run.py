"""A run: one execution for one subject. `phase` is moved here; `state` is computed by the policies and kept with it."""

from __future__ import annotations

from typing import Any

from django.db import models

from workflows.states import Phase, RunState

from .agent import Agent
from .catalog import Workflow
from .fields import StateField, choices, json_field, named, new_id

P = Phase


class Run(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # Found by agent through `run_of_agent`; never by workflow. Each index is written at every move of a run.
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, db_index=False)
    workflow = models.ForeignKey(Workflow, on_delete=models.PROTECT, db_index=False)
    subject_type = models.CharField(max_length=100)
    subject_id = models.CharField(max_length=200)
    subject_label = models.CharField(max_length=300, blank=True)
    external_id = models.CharField(max_length=200, blank=True)
    input = json_field(dict)
    on_behalf_of = models.CharField(max_length=100, blank=True)  # for whom the agent acted when it started the run
    narrowed = json_field(dict)  # the agent's grants as they were then
    idempotency_key = models.CharField(max_length=255)
    body_digest = models.CharField(max_length=64)
    epoch = models.BigIntegerField()
    phase = StateField(default=P.RUNNING.value, choices=choices(Phase), protected=True)
    state = models.CharField(max_length=30, choices=choices(RunState), default=RunState.RUNNING.value)
    is_clean = models.BooleanField(null=True)
    sealed = models.BooleanField(default=False)
    ending = models.CharField(max_length=20, blank=True)  # how it turns back: compensate | hold | written_off | remedy
    end_cause = models.CharField(max_length=20, blank=True)  # why it turns back: step | cancel | deadline | person
    end_reason = models.TextField(blank=True)
    needs_person = models.BooleanField(default=False)
    people_reasons = json_field(list)
    repaired = models.BooleanField(default=False)
    residue = json_field(list)
    waits_until = models.DateTimeField(null=True, blank=True)
    deadline = models.DateTimeField(null=True, blank=True)
    advance_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    seq = models.PositiveIntegerField(default=0)
    head = models.CharField(max_length=64, blank=True)

    event: str = ""
    payload: dict[str, Any] | None = None
    was_phase: str = ""
    was: dict[str, Any] | None = None

    class Meta:
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(fields=["agent", "idempotency_key"], name="one_run_per_idempotency_key"),
            models.CheckConstraint(condition=models.Q(phase__in=[p.value for p in Phase]), name="run_phase_known"),
            models.CheckConstraint(condition=models.Q(state__in=[s.value for s in RunState]), name="run_state_known"),
            models.CheckConstraint(
                condition=models.Q(phase=P.OVER.value, is_clean__isnull=False, ended_at__isnull=False)
                | (~models.Q(phase=P.OVER.value) & models.Q(is_clean__isnull=True, ended_at__isnull=True)),
                name="run_is_clean_or_not_only_once_over",
            ),
        )
        indexes = (
            models.Index(fields=["advance_at"], name="run_due", condition=models.Q(advance_at__isnull=False)),
            models.Index(fields=["state", "-id"], name="run_by_state"),
            models.Index(fields=["workflow", "agent", "-id"], name="run_of_both"),
            models.Index(fields=["agent", "-id"], name="run_of_agent"),
            models.Index(fields=["external_id"], name="run_external", condition=~models.Q(external_id="")),
            models.Index(fields=["subject_type", "subject_id"], name="run_subject"),
        )

    def __str__(self) -> str:
        return f"run {self.id}"

    @classmethod
    def from_db(cls, db: Any, field_names: Any, values: Any, **options: Any) -> Run:
        run = super().from_db(db, field_names, values, **options)
        run.remember()
        return run

    def remember(self) -> None:
        """Keeps what the row was read as: for the entry of its next move, and to write only what changed."""
        facts = self.__dict__
        facts.pop("was", None)
        self.was_phase = facts["phase"]
        self.was = facts.copy()

    @named("phase", "seal", [P.OPEN.value], P.RUNNING.value)
    def seal(self) -> None:
        self.sealed = True

    @named("phase", "unwind", [P.OPEN.value, P.RUNNING.value], P.UNWINDING.value)
    def unwind(self, *, ending: str, cause: str, reason: str) -> None:
        self.ending, self.end_cause, self.end_reason = ending, cause, reason
        self.sealed = True

    @named("phase", "end", [P.RUNNING.value, P.UNWINDING.value], P.OVER.value)
    def end(self) -> None:
        self.advance_at = None

    @named("phase", "resume", [P.UNWINDING.value], P.RUNNING.value)
    def resume(self) -> None:
        """It goes forward again, as if it had never turned back; no more steps come."""
        self.ending = self.end_cause = self.end_reason = ""
        self.waits_until = None

    @named("phase", "reopen", [P.OVER.value], P.UNWINDING.value)
    def reopen(self, *, ending: str = "hold") -> None:
        """`ending`: of one that was never to turn back. For a remedy nothing else of it is touched."""
        self.is_clean = self.ended_at = None
        self.ending = self.ending or ending

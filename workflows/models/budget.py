"""Budgets: what may be spent by a run, an agent, a tool, a workflow or all together, and what each effect took of it.

`authority.budgets` counts, under the budgets' row locks in the order of their ids; `authority.raising` changes limits.
"""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from workflows.policies.holds import HELD, RETURNED, SPENT
from workflows.policies.spending import EVER, LENGTHS, Book

from .effect import Effect
from .fields import json_field, new_id

OWNERS = ("run", "agent", "tool", "workflow", "all")


class Budget(models.Model):
    """`owner`: "run:<id>", "agent:<name>", "tool:<name>", "workflow:<name>" or "all:". Amounts are by unit, as in
    `policies.spending`; `line`: its own id, and for a run those of the runs it was begun under.

    `revision` rises whenever somebody who found too little should look again; the effect keeps the one it saw."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.CharField(max_length=220)
    per = models.CharField(max_length=10, default=EVER)
    limits = json_field(dict)
    used = json_field(dict)
    reserved = json_field(dict)
    aside = json_field(dict)  # what undoing drew from the reserve, beside the limits
    window = models.DateTimeField(null=True)
    line = ArrayField(models.UUIDField(), default=list)
    revision = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    seq = models.PositiveIntegerField(default=0)
    head = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=["owner", "per"], name="one_budget_of_an_owner"),
            models.CheckConstraint(condition=models.Q(per__in=[EVER, *LENGTHS]), name="budget_per_known"),
        )

    def __str__(self) -> str:
        kind, _, name = self.owner.partition(":")
        of = f"{kind} {name}" if name else "everything"
        return of if self.per == EVER else f"{of} per {self.per}"

    @property
    def kind(self) -> str:
        return self.owner.partition(":")[0]

    @property
    def name(self) -> str:
        return self.owner.partition(":")[2]

    def book(self) -> Book:
        return Book(
            limits=self.limits,
            used=dict(self.used),
            reserved=dict(self.reserved),
            aside=dict(self.aside),
            per=self.per,
            window=self.window,
        )


class Reservation(models.Model):
    """What one effect takes of one budget. `call`: of the send under way; `calls`: of those that ended.

    `open`: somebody still has to find out what became of it; the sweep reads only these."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    budget = models.ForeignKey(Budget, on_delete=models.PROTECT, related_name="reservations", db_index=False)
    # Rows that can't be deleted need no check at each insert, which would lock them too.
    effect = models.ForeignKey(Effect, on_delete=models.PROTECT, related_name="reservations", db_constraint=False)
    subject = models.CharField(max_length=310)
    window = models.DateTimeField(null=True)  # that of the budget in which it was taken
    worth = json_field(dict)
    state = models.CharField(max_length=10, default=HELD, choices=[(s, s) for s in (HELD, SPENT, RETURNED)])
    call = json_field(dict)
    calls = json_field(dict)
    open = models.BooleanField(default=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=["budget", "effect"], name="one_reservation_of_a_budget"),
            models.CheckConstraint(
                condition=models.Q(state__in=[HELD, SPENT, RETURNED]), name="reservation_state_known"
            ),
        )
        indexes = (
            models.Index(fields=["id"], name="reservation_open", condition=models.Q(open=True)),
            models.Index(fields=["budget", "subject"], name="reservation_customer"),
            models.Index(
                fields=["window"],
                name="reservation_over",
                condition=models.Q(open=False, window__isnull=False),
            ),
        )

    def __str__(self) -> str:
        return f"{self.state} of {self.budget_id} by {self.effect_id}"


class ToolCost(models.Model):
    """What an act of a tool is taken to cost where its value isn't known, by currency. A person sets it, with why.

    `looks`: how many calls more each send is taken for, where looks at what it did cost as much as sends."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    tool = models.CharField(max_length=200, unique=True)
    worst = json_field(dict)
    looks = models.PositiveSmallIntegerField(default=0)
    seq = models.PositiveIntegerField(default=0)
    head = models.CharField(max_length=64, blank=True)

    def __str__(self) -> str:
        return self.tool


class BudgetChange(models.Model):
    """A changed limit: done at once where it gives less, asked of a second person where it gives more.

    `was`, `limits`: all of them before and after; a unit that is left out is not limited."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    budget = models.ForeignKey(Budget, on_delete=models.PROTECT, related_name="changes")
    was = json_field(dict)
    limits = json_field(dict)
    state = models.CharField(max_length=10, choices=[(s, s) for s in ("asked", "done", "declined", "outdated")])
    by = models.CharField(max_length=100)  # as the journal names who asked
    why = models.TextField()
    asked_at = models.DateTimeField()
    answered_by = models.CharField(max_length=100, blank=True)
    answer = models.TextField(blank=True)
    answered_at = models.DateTimeField(null=True)
    alone = models.BooleanField(default=False)  # one person did what two should

    class Meta:
        ordering = ("-id",)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(answered_by="") | models.Q(alone=True) | ~models.Q(answered_by=models.F("by")),
                name="budget_change_takes_two_people_or_says_alone",
            ),
            models.UniqueConstraint(
                fields=["budget"], condition=models.Q(state="asked"), name="one_open_change_of_a_budget"
            ),
        )

    def __str__(self) -> str:
        return f"{self.state} change of {self.budget_id}"

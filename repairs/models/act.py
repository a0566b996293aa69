"""An act: what a person did to a case, with the reason they gave. Rows are only ever added; the database says so."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from workflows.models import Effect
from workflows.models.fields import choices, json_field, new_id

from .case import Case


class ActKind(models.TextChoices):
    CLAIM = "claim"
    TAKE_OVER = "take_over"
    RELEASE = "release"
    LOOK_AGAIN = "look_again"
    FOUND = "found"
    ABSENT = "absent"
    TRY_AGAIN = "try_again"
    SKIP = "skip"
    UNDO_REST = "undo_rest"
    UNDO_AGAIN = "undo_again"
    TURN_BACK = "turn_back"
    CANCEL = "cancel"  # the run, and what stands is undone
    HOLD = "hold"  # the run stops where it is
    RESUME = "resume"  # a held run goes forward again
    PROPOSE_WRITE_OFF = "propose_write_off"
    DECLINE_WRITE_OFF = "decline_write_off"
    WRITE_OFF = "write_off"
    REMEDY = "remedy"
    CALL_OFF = "call_off"
    SNOOZE = "snooze"
    WAKE = "wake"
    ESCALATE = "escalate"
    ANSWER = "answer"
    FACT = "fact"
    GUESS = "guess"
    CONFIRM = "confirm"  # a guess was right
    REFUTE = "refute"
    TOLD = "told"  # somebody was told something
    OPEN_CASE = "open_case"  # by hand, for a run that had none
    REOPEN = "reopen"
    CLOSE = "close"
    HAND_OVER = "hand_over"
    ACCEPT = "accept"
    DECLINE_HAND_OVER = "decline_hand_over"
    WITHDRAW_HAND_OVER = "withdraw_hand_over"
    TICK = "tick"  # a step of a runbook
    DEVIATE = "deviate"  # the same, and it was otherwise
    CORRECT_TIME = "correct_time"
    HURTS = "hurts"  # by when it hurts the customer


class Outcome(models.TextChoices):
    DONE = "done"
    ASKED = "asked"  # the engine will do it; its journal says when
    PROPOSED = "proposed"  # it waits for a second person
    REFUSED = "refused"  # the engine said no; `detail` has its words


class Act(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="acts")
    effect = models.ForeignKey(Effect, on_delete=models.PROTECT, null=True, related_name="acts", db_index=False)
    kind = models.CharField(max_length=30, choices=choices(ActKind))
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="acts")
    second = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+", db_index=False
    )  # who had proposed what `by` confirmed
    alone = models.BooleanField(default=False)  # one person did what two should
    answers = models.OneToOneField("self", on_delete=models.PROTECT, null=True, related_name="answer")
    why = models.TextField(blank=True)
    outcome = models.CharField(max_length=20, choices=choices(Outcome))
    detail = models.TextField(blank=True)
    facts = json_field(dict)  # what the person saw of the effect, or of the run: state, seq
    at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.CheckConstraint(
                condition=~models.Q(kind=ActKind.WRITE_OFF.value, outcome=Outcome.DONE.value)
                | models.Q(alone=True, second__isnull=True)
                | (models.Q(alone=False, second__isnull=False) & ~models.Q(second=models.F("by"))),
                name="write_off_takes_two_people_or_says_alone",
            ),
        )

    def __str__(self) -> str:
        return f"{self.kind} on {self.case_id}"

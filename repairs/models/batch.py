"""A batch: one act on a frozen list of cases, each as it was when chosen. Its rows say how far it is."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from workflows.models import Effect
from workflows.models.fields import choices, json_field, new_id

from .case import Case


class BatchAct(models.TextChoices):
    LOOK_AGAIN = "look_again"
    CLAIM = "claim"
    RELEASE = "release"
    TURN_BACK = "turn_back"
    TRY_AGAIN = "try_again"
    UNDO_AGAIN = "undo_again"
    FACT = "fact"
    SNOOZE = "snooze"
    ESCALATE = "escalate"

    @property
    def sends(self) -> bool:
        """Whether something leaves by it."""
        return self.value in SENDS


SENDS = ("turn_back", "try_again", "undo_again")


class BatchState(models.TextChoices):
    DRAFT = "draft"  # chosen and shown; nothing was asked for
    ASKED = "asked"  # it waits for a second person
    RUNNING = "running"
    STOPPED = "stopped"
    DONE = "done"
    DECLINED = "declined"


class ItemState(models.TextChoices):
    WAITING = "waiting"
    DONE = "done"
    SKIPPED = "skipped"  # it is not as it was chosen, or there is nothing to do
    REFUSED = "refused"  # the engine, or a rule for people, said no
    FAILED = "failed"  # our own bug; the log has it


STARTED = (BatchState.RUNNING.value, BatchState.STOPPED.value, BatchState.DONE.value)


class Batch(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    number = models.BigIntegerField(
        unique=True,
        editable=False,
        db_default=models.Func(models.Value("repairs_batch_number"), function="nextval"),
    )
    act = models.CharField(max_length=20, choices=choices(BatchAct))
    state = models.CharField(max_length=10, choices=choices(BatchState), default=BatchState.DRAFT.value)
    chosen = models.CharField(max_length=300)  # how, in words
    count = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)  # over the act and all that was chosen, each as it was
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="batches")
    why = models.TextField(blank=True)
    agents = ArrayField(models.UUIDField())  # whose cases these are: who sees not all of them doesn't see it
    given = json_field(dict)  # what else the act has to know, as it was asked for: until when, whose help
    needs_second = models.BooleanField(default=False)
    second = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+", db_index=False
    )  # who confirmed, or declined
    alone = models.BooleanField(default=False)  # one person did what two should
    made_at = models.DateTimeField()
    asked_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    seq = models.PositiveIntegerField(default=0)
    head = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ("-number",)
        constraints = (
            models.CheckConstraint(condition=Q(state__in=BatchState.values), name="batch_state_known"),
            models.CheckConstraint(condition=Q(state=BatchState.DRAFT.value) | ~Q(why=""), name="batch_says_why"),
            models.CheckConstraint(condition=Q(agents__len__gt=0), name="batch_is_somebodys"),
            models.CheckConstraint(
                condition=~Q(act__in=SENDS) | Q(needs_second=True), name="batch_that_sends_takes_two"
            ),
            models.CheckConstraint(
                condition=~Q(state__in=STARTED)
                | Q(needs_second=False)
                | Q(alone=True, second__isnull=True)
                | (Q(alone=False, second__isnull=False) & ~Q(second=F("by"))),
                name="batch_takes_two_people_or_says_alone",
            ),
        )
        indexes = (
            models.Index(
                fields=["state", "id"], name="batch_open", condition=Q(state__in=["draft", "asked", "running"])
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        return f"B-{self.number}"

    @property
    def sends(self) -> bool:
        return BatchAct(self.act).sends


class BatchItem(models.Model):
    """`version`: places of case, run and effects in their histories when it was chosen; no other is acted on.

    Of an act that sends: `effect` is what it is about (none: the whole run), `preview` the digest of what was shown."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="items", db_index=False)
    case = models.ForeignKey(Case, on_delete=models.PROTECT, related_name="batch_items")
    version = models.CharField(max_length=40)
    effect = models.ForeignKey(Effect, on_delete=models.PROTECT, null=True, related_name="+", db_index=False)
    preview = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=10, choices=choices(ItemState), default=ItemState.WAITING.value)
    # To how many workers in a row it was handed that never came back; raised before it is.
    tries = models.PositiveSmallIntegerField(default=0, db_default=0)
    said = models.CharField(max_length=300, blank=True)
    at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=["batch", "case"], name="a_case_is_once_in_a_batch"),
            models.CheckConstraint(condition=Q(state__in=ItemState.values), name="batch_item_state_known"),
            models.CheckConstraint(
                condition=Q(state=ItemState.WAITING.value, at__isnull=True) | ~Q(state=ItemState.WAITING.value),
                name="batch_item_waits_or_was_met",
            ),
        )
        indexes = (models.Index(fields=["batch", "id"], name="batch_item_waiting", condition=Q(state="waiting")),)

    def __str__(self) -> str:
        return f"{self.case_id} in {self.batch_id}"

"""A remark beside an approval: a question to who asks, an answer, or that somebody leaves it to the others."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from workflows.models import Approval
from workflows.models.fields import choices, new_id


class RemarkKind(models.TextChoices):
    ASK = "ask"
    ANSWER = "answer"
    NOT_MINE = "not_mine"


class Remark(models.Model):
    """It decides nothing. Rows are only ever added; the database says so."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    approval = models.ForeignKey(Approval, on_delete=models.PROTECT, related_name="remarks")
    kind = models.CharField(max_length=10, choices=choices(RemarkKind))
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    words = models.TextField()
    at = models.DateTimeField()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=["approval", "by"], condition=models.Q(kind="not_mine"), name="left_to_others_once"
            ),
            models.CheckConstraint(condition=models.Q(kind__in=RemarkKind.values), name="remark_kind_known"),
        )

    def __str__(self) -> str:
        return f"{self.kind} beside {self.approval_id}"

"""A hook: a signed message from outside. A hint only: it moves no state, it causes looks. Each id of a source once."""

from __future__ import annotations

from django.db import models

from .fields import json_field, new_id


class Hook(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    source = models.CharField(max_length=63)
    event_id = models.CharField(max_length=200)  # by whose name the sender repeats it
    sent_at = models.DateTimeField()  # as the sender says, by its own clock
    received_at = models.DateTimeField()
    body = json_field(dict)
    effects = json_field(list)  # ids of those that it named; none: kept, nobody knows what it speaks of
    looks = models.PositiveIntegerField(default=0)  # how many of them were to be looked at

    class Meta:
        ordering = ("-id",)
        constraints = (models.UniqueConstraint(fields=["source", "event_id"], name="one_hook_per_event"),)

    def __str__(self) -> str:
        return f"{self.source} {self.event_id}"

    @property
    def skew(self) -> float:
        """Seconds that the sender's clock, or the message, was behind ours; negative: ahead."""
        return (self.received_at - self.sent_at).total_seconds()

"""The append-only history. An entry holds ids, states, numbers and a digest; words lie in an erasable payload."""

from __future__ import annotations

from django.db import models

from .fields import json_field, new_id


class Entry(models.Model):
    """One event of one subject (an effect or a run). `hash` covers all of it and the entry before."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    subject_kind = models.CharField(max_length=10)  # effect | run | case
    subject_id = models.UUIDField()
    run_id = models.UUIDField(null=True)
    seq = models.PositiveIntegerField()
    event = models.CharField(max_length=30)
    before = models.CharField(max_length=30, blank=True)
    after = models.CharField(max_length=30, blank=True)
    world = models.CharField(max_length=20, blank=True)
    fence = models.PositiveIntegerField(default=0)
    actor = models.CharField(max_length=100)
    at = models.DateTimeField()
    payload_digest = models.CharField(max_length=64, blank=True)
    prev = models.CharField(max_length=64, blank=True)
    hash = models.CharField(max_length=64)

    class Meta:
        ordering = ("subject_id", "seq")
        indexes = (
            models.Index(fields=["subject_id", "seq"], name="entry_chain"),
            models.Index(fields=["run_id"], name="entry_run"),
        )
        verbose_name_plural = "entries"

    def __str__(self) -> str:
        return f"{self.subject_kind} {self.subject_id} #{self.seq} {self.event}"


class Payload(models.Model):
    entry_id = models.UUIDField(primary_key=True)
    salt = models.CharField(max_length=32)
    data = json_field(dict)

    def __str__(self) -> str:
        return f"payload of {self.entry_id}"


class Checkpoint(models.Model):
    """Digest over the hashes of all entries up to a moment, chained to the checkpoint before."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    at = models.DateTimeField()
    upto = models.UUIDField()
    entries = models.BigIntegerField()
    prev = models.CharField(max_length=64, blank=True)
    hash = models.CharField(max_length=64)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"checkpoint at {self.at}"

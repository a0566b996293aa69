"""What is counted of a tool's recent use, across all workers: its minute, its failures, its breaker."""

from __future__ import annotations

from django.db import models


class Gauge(models.Model):
    tool = models.CharField(primary_key=True, max_length=200)  # its name: versions share what they wear out
    minute = models.DateTimeField(null=True)  # the minute that `sent` counts
    sent = models.PositiveIntegerField(default=0)
    failures = models.PositiveIntegerField(default=0)  # in a row, since `failing_since`
    failing_since = models.DateTimeField(null=True)
    open_until = models.DateTimeField(null=True)  # the breaker: until then nothing is sent, then one probe

    def __str__(self) -> str:
        return self.tool

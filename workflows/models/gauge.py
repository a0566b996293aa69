"""What is counted of a tool's recent use, across all workers: its minute, its failures, its breaker, its pace."""

from __future__ import annotations

from django.db import models

from workflows.policies.pace import MOST_CREDIT


class Gauge(models.Model):
    tool = models.CharField(primary_key=True, max_length=200)  # its name: versions share what they wear out
    minute = models.DateTimeField(null=True)  # the minute that `sent` counts
    sent = models.PositiveIntegerField(default=0)
    sent_before = models.PositiveIntegerField(default=0)  # in the minute before that
    failures = models.PositiveIntegerField(default=0)  # in a row, since `failing_since`
    failing_since = models.DateTimeField(null=True)
    open_until = models.DateTimeField(null=True)  # the breaker: until then nothing is sent, then one probe
    paused_until = models.DateTimeField(null=True)  # the provider asked to be left alone until then
    # After trouble calls go at a pace that grows until it meets trouble again, or nothing holds it any more.
    pace = models.FloatField(null=True)  # calls a second at `paced_at`; null: free
    paced_at = models.DateTimeField(null=True)
    steady = models.FloatField(null=True)  # the pace up to which it grows fast: half of what was too much
    tokens = models.FloatField(default=0.0)  # calls that might have gone and did not, at `tokens_at`
    tokens_at = models.DateTimeField(null=True)
    credit = models.FloatField(default=MOST_CREDIT)  # retries that may go, at `credit_at`
    credit_at = models.DateTimeField(null=True)
    next_at = models.DateTimeField(null=True)  # when those who wait for this tool may be let go; null: nobody waits

    def __str__(self) -> str:
        return self.tool

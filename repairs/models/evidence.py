"""Evidence: what somebody saw outside, as they gave it. Its act keeps name, size and sha256; the bytes lie here."""

from __future__ import annotations

from django.db import models

from workflows.models.fields import new_id

from .act import Act


class Evidence(models.Model):
    """Never changed. It may be erased, as a payload of the journal may: what the act keeps of it stays."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    act = models.ForeignKey(Act, on_delete=models.PROTECT, related_name="evidence")
    name = models.CharField(max_length=200)
    size = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    content = models.BinaryField()

    class Meta:
        ordering = ("id",)
        verbose_name_plural = "evidence"

    def __str__(self) -> str:
        return f"evidence {self.id}"

"""Which database server this installation was last seen on: another one means that it was restored or moved."""

from __future__ import annotations

from django.db import models


class Install(models.Model):
    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    identity = models.CharField(max_length=100)  # of server, its timeline, and the database in it
    since = models.DateTimeField()

    class Meta:
        constraints = (models.CheckConstraint(condition=models.Q(id=1), name="one_install"),)

    def __str__(self) -> str:
        return self.identity

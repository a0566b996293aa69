"""What the console keeps of a person besides Django's user."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from workflows.models import Team


class Person(models.Model):
    """`must_change`: the password was made by `create_person` and shown once; nothing but its change is served.

    `teams`: whose agents' work the person sees; without any they see all of it."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="person")
    must_change = models.BooleanField(default=False)
    teams = models.ManyToManyField(Team, related_name="people", blank=True)

    def __str__(self) -> str:
        return f"person {self.user_id}"

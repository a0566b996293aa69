"""What the console keeps of a person besides Django's user, and what somebody changed about them."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from workflows.models import Team
from workflows.models.fields import json_field, new_id


class Person(models.Model):
    """`must_change`: the password was made by `create_person` and shown once; nothing but its change is served.

    `teams`: whose agents' work the person sees; without any they see all of it. `zone`: the IANA zone in which they are
    shown times."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="person")
    must_change = models.BooleanField(default=False)
    teams = models.ManyToManyField(Team, related_name="people", blank=True)
    zone = models.CharField(max_length=64, default="UTC")

    def __str__(self) -> str:
        return f"person {self.user_id}"


class SecondFactor(models.Model):
    """What makes a person's codes, sealed; it counts once it is confirmed by one.

    `last_step`: the half minute of the last code that counted: none is good twice. `codes`: digests of the recovery
    codes that are left. `failures`: wrong ones in a row; the next is looked at from `wait_until` on."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="second_factor")
    sealed = models.TextField()
    confirmed_at = models.DateTimeField(null=True)
    last_step = models.BigIntegerField(default=0)
    codes = json_field(list)
    failures = models.PositiveIntegerField(default=0)
    wait_until = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"second factor of {self.user_id}"


class PersonAct(models.Model):
    """What somebody changed about a person, with why. Rows are only added; each is its own chain of the journal."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    login = models.CharField(max_length=150)
    what = models.CharField(max_length=30)
    by = models.CharField(max_length=100)  # "person:LOGIN", or "command"
    why = models.TextField(blank=True)
    facts = json_field(dict)
    at = models.DateTimeField()
    seq = models.PositiveIntegerField(default=0)
    head = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.what} of {self.login}"

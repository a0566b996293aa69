"""A credential of an outside system whose tokens the engine renews: what is known of it, and its tokens, sealed.

Moves change fields of the instance only; `workflows.authority.credentials` writes them with their entries.
"""

from __future__ import annotations

import datetime as dt
import enum
from typing import Any

from django.db import models

from .fields import StateField, choices, named, new_id


class CredentialState(enum.StrEnum):
    READY = "ready"
    RENEWING = "renewing"  # one process asks for a new token, under its lease
    LOST = "lost"  # no token can be had any more: a person must bring a new grant


class Grant(enum.StrEnum):
    REFRESH = "refresh_token"
    CLIENT = "client_credentials"
    STATIC = "static"  # a secret that operators set; here only once a provider refused it


C = CredentialState


class Credential(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=300, unique=True)
    owner = models.CharField(max_length=100)
    grant = models.CharField(max_length=20, choices=choices(Grant))
    token_url = models.CharField(max_length=2000)
    client = models.CharField(max_length=300)
    secret = models.CharField(max_length=64, blank=True)  # the name of the client's (or the static) secret
    refused_as = models.CharField(max_length=64, blank=True)  # a print of the static secret that was refused
    scope = models.CharField(max_length=1000, blank=True)
    rotates = models.BooleanField()  # a refresh token is used once: after a lost answer it can't be used again

    state = StateField(default=C.READY.value, choices=choices(CredentialState), protected=True)
    why = models.TextField(blank=True)  # why it is lost, or what keeps its renewal
    sealed = models.TextField(blank=True)  # encrypted: {"access", "refresh"}
    generation = models.PositiveIntegerField(default=0)  # of the access token: 0 before the first
    refused = models.PositiveIntegerField(default=0)  # the generation that a provider did not accept
    refusals = models.PositiveSmallIntegerField(default=0)  # renewals in a row that a refusal caused
    expires_at = models.DateTimeField(null=True)
    wanted_at = models.DateTimeField(null=True)  # since when somebody needs a new token
    ask_at = models.DateTimeField(null=True)  # not asked before: the endpoint was in trouble; static: when one tries it
    backoffs = models.PositiveSmallIntegerField(default=0)
    fence = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    seq = models.PositiveIntegerField(default=0)
    head = models.CharField(max_length=64, blank=True)

    event: str = ""
    was_state: str = ""
    payload: dict[str, Any] | None = None

    class Meta:
        ordering = ("name",)
        constraints = (
            models.CheckConstraint(condition=models.Q(state__in=[s.value for s in C]), name="credential_state_known"),
            models.CheckConstraint(
                condition=~models.Q(state=C.RENEWING.value) | models.Q(lease_until__isnull=False),
                name="renewing_has_a_lease",
            ),
        )
        indexes = (
            models.Index(fields=["wanted_at"], name="credential_wanted", condition=models.Q(wanted_at__isnull=False)),
        )

    def __str__(self) -> str:
        return self.name

    @classmethod
    def from_db(cls, *args: Any, **options: Any) -> Credential:
        credential = super().from_db(*args, **options)
        credential.was_state = credential.__dict__["state"]
        return credential

    def usable(self, now: dt.datetime, seconds: float) -> bool:
        """Whether its token can be expected to be accepted for so long."""
        if self.state == C.LOST or not self.generation or self.refused == self.generation:
            return False
        return self.expires_at is None or self.expires_at > now + dt.timedelta(seconds=seconds)

    def note(self, event: str) -> None:
        """Says that only knowledge changed, not the state."""
        self.event = event

    @named("state", "ask", [C.READY.value], C.RENEWING.value)
    def ask(self, *, lease_until: dt.datetime) -> None:
        self.fence += 1
        self.lease_until = lease_until
        if self.refused != self.generation:
            self.refusals = 0

    @named("state", "renew", [C.RENEWING.value, C.LOST.value], C.READY.value)
    def renew(self, *, sealed: str, expires_at: dt.datetime | None) -> None:
        self.sealed, self.expires_at = sealed, expires_at
        self.generation += 1
        self.why = ""
        self.backoffs = 0
        self._rest()

    @named("state", "put_off", [C.RENEWING.value], C.READY.value)
    def put_off(self, *, why: str, ask_at: dt.datetime) -> None:
        """The same may be asked again: nothing was asked, or nothing was done by it."""
        self.why, self.ask_at = why, ask_at
        self.backoffs += 1
        self.lease_until = None

    @named("state", "lose", [C.READY.value, C.RENEWING.value], C.LOST.value)
    def lose(self, *, why: str) -> None:
        self.why = why
        self._rest()

    @named("state", "replace", [s.value for s in C], C.READY.value)
    def replace(self, *, sealed: str) -> None:
        """A person brought a new grant. Its first token is still to be asked for."""
        self.sealed, self.expires_at, self.why = sealed, None, ""
        self.refused, self.refusals, self.backoffs = self.generation, 0, 0
        self.fence += 1
        self._rest()

    @property
    def static(self) -> bool:
        return self.grant == Grant.STATIC

    @named("state", "accept", [C.LOST.value], C.READY.value)
    def accept(self) -> None:
        """A static secret: another one is set, or the provider takes it again."""
        self.why = self.refused_as = ""
        self._rest()

    def _rest(self) -> None:
        self.lease_until = self.wanted_at = self.ask_at = None

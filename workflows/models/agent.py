"""Who may ask for effects: an agent, what it may do and for whom, and its keys. Of a key only the digest is kept."""

from __future__ import annotations

import datetime as dt
import enum
from typing import Any

from django.db import models

from .fields import json_field, new_id
from .team import DEFAULT

ANY = "*"


class Right(enum.StrEnum):
    """What a grant of a tool may consist of; a name alone grants all four."""

    READ = "read"  # its act, where that changes nothing
    WRITE = "write"  # its act, where it does
    COMPENSATE = "compensate"  # undoing what it did
    VERIFY = "verify"  # looking at what it did


ALL = tuple(right.value for right in Right)


class Agent(models.Model):
    """`tools` and `workflows`: names, or "*". `narrowed`: {name of `tools`: rights} where not all four are granted.

    `team`: a team's name. `on_behalf_of`: "person:LOGIN" or "system:NAME" for whom it acts, "" for its team."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=100, unique=True)
    team = models.CharField(max_length=100, default=DEFAULT)
    purpose = models.CharField(max_length=500, blank=True)
    tools = json_field(list)
    workflows = json_field(list)
    narrowed = json_field(dict)
    on_behalf_of = models.CharField(max_length=100, blank=True)
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    key: AgentKey | None = None  # the one that this request came with, in the process that answers it

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    def may_use_tool(self, name: str) -> bool:
        return ANY in self.tools or name in self.tools

    def may_use_workflow(self, name: str) -> bool:
        return ANY in self.workflows or name in self.workflows

    def rights(self, tool: str) -> tuple[str, ...]:
        """What it may do with this tool; its own entry goes before that of "*". None without a grant."""
        return rights_of(self.narrowed, tool) if self.may_use_tool(tool) else ()

    @property
    def owned(self) -> dict[str, Any]:
        """What its runs and effects are found by: with a key for one party, nothing that was done for another."""
        narrow = {"on_behalf_of": self.key.on_behalf_of} if self.key and self.key.on_behalf_of else {}
        return {"agent": self, **narrow}

    @property
    def acts_for(self) -> str:
        """For whom it acts in this request: its key may say it more narrowly."""
        return (self.key.on_behalf_of if self.key else "") or self.on_behalf_of


def rights_of(narrowed: dict[str, Any], tool: str) -> tuple[str, ...]:
    return tuple(narrowed.get(tool, narrowed.get(ANY, ALL)))


class AgentKey(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="keys")
    prefix = models.CharField(max_length=16, unique=True)
    digest = models.CharField(max_length=64)
    on_behalf_of = models.CharField(max_length=100, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("prefix",)

    def __str__(self) -> str:
        return f"{self.prefix}…"

    def state_at(self, now: dt.datetime) -> str:
        """open, expired or revoked."""
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at and self.expires_at <= now else "open"


class AgentAct(models.Model):
    """What somebody changed about an agent, with why. Rows are only added; each is its own chain of the journal."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="acts")
    what = models.CharField(max_length=30)  # create | change | new_key | rotate_key | revoke_key
    by = models.CharField(max_length=100)  # "person:LOGIN", or "command"
    why = models.TextField(blank=True)
    facts = json_field(dict)
    at = models.DateTimeField()
    seq = models.PositiveIntegerField(default=0)
    head = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.what} of {self.agent_id}"

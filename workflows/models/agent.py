"""Who may ask for effects: an agent and its keys. A key is shown once; only its digest is kept."""

from __future__ import annotations

from django.db import models

from .fields import json_field, new_id

ANY = "*"


class Agent(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=100, unique=True)
    team = models.CharField(max_length=100, default="operations")
    purpose = models.CharField(max_length=500, blank=True)
    tools = json_field(list)
    workflows = json_field(list)
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    def may_use_tool(self, name: str) -> bool:
        return ANY in self.tools or name in self.tools

    def may_use_workflow(self, name: str) -> bool:
        return ANY in self.workflows or name in self.workflows


class AgentKey(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="keys")
    prefix = models.CharField(max_length=16, unique=True)
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("prefix",)

    def __str__(self) -> str:
        return f"{self.prefix}…"

"""Rows read past Django's conversion are the same rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import models

from tests.engine.simulated import World
from workflows.fetch import fetch
from workflows.journal import HASHED, entry_hash
from workflows.models import Agent, Effect, Entry, Run, Step, Tool, Workflow

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_a_fetched_row_has_the_values_and_types_that_django_reads(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a", scopes=["thing:${ args.of }"])
    tool("t.b")
    world.script("t.b", "execute", "refused")
    run_through(workflow("t.a", "t.b"))
    models_read: list[type[models.Model]] = [Agent, Effect, Run, Step, Tool, Workflow]
    for model in models_read:
        fetched = fetch(model, "ORDER BY t.id")
        expected = list(model._default_manager.order_by("pk"))
        assert [_values(row) for row in fetched] == [_values(row) for row in expected] != []


def _values(row: models.Model) -> dict[str, tuple[type, Any]]:
    names = [field.attname for field in row._meta.concrete_fields]
    return {name: (type(getattr(row, name)), getattr(row, name)) for name in names}


def test_an_entry_made_quickly_has_the_hash_that_its_fields_have(
    world: World, tool: Make, workflow: Make, run_through: Make, agent: Agent
) -> None:
    agent.name = 'agent "of" Zoë \\ &c'
    agent.save()
    tool("t.a")
    run_through(workflow("t.a"))
    entries = list(Entry.objects.values(*HASHED, "hash"))
    assert any("Zoë" in entry["actor"] for entry in entries)
    assert [entry_hash(entry) for entry in entries] == [entry["hash"] for entry in entries]

"""`recover` says what became unknown, and does nothing else."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command

from tests.engine.simulated import World
from workflows.engine.advance import advance
from workflows.engine.dispatch import dispatch
from workflows.holders import place
from workflows.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


def test_what_a_dead_worker_held_becomes_unknown_and_nothing_is_sent(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    begin(workflow("t.a"))
    advance()
    dispatch(1)
    began_at_boot = f"{place()}:{os.getpid()}:1"  # somebody else who had this number, and is gone
    Effect.objects.update(holder=began_at_boot)
    out = io.StringIO()
    call_command("recover", "--json", stdout=out)
    effect = Effect.objects.get()
    assert [row["effect"] for row in json.loads(out.getvalue())["unknown"]] == [str(effect.id)]
    assert (effect.state, effect.world, effect.lost_lease, world.sends) == ("unknown", "unknown", True, [])
    out = io.StringIO()
    call_command("recover", stdout=out)
    assert out.getvalue() == "0 effects became unknown\n"

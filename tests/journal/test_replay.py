"""States can be rebuilt from the journal alone, and a row that says otherwise is found."""

from __future__ import annotations

import io
import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.engine.simulated import World
from tests.journal.tampering import past_triggers, sql
from workflows.models import Effect, Run
from workflows.replay.check import check

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


@pytest.fixture
def run(world: World, tool: Make, workflow: Make, run_through: Make) -> Run:
    """Lost, refused for a while, looked at, sent again, undone, and stuck in the end."""
    for name in ("t.a", "t.b", "t.c"):
        tool(name, scopes=["thing:${ args.of }"])
    world.script("t.a", "execute", "lost_before", "temporary")
    world.script("t.c", "execute", "refused")
    world.script("t.a", "compensate", "not_sent", "refused")
    run: Run = run_through(workflow("t.a", "t.b", "t.c"))
    return run


def test_what_the_journal_tells_is_what_the_rows_say(run: Run) -> None:
    summary, flaws = check(run.id)
    assert flaws == []
    assert summary.subjects == 1 + Effect.objects.count()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE workflows_effect SET state = 'undone' WHERE id = %s", "state is 'undone' in its row, 'stuck'"),
        ("UPDATE workflows_effect SET world = 'present' WHERE id = %s", "world is 'present' in its row, 'nothing'"),
        ("UPDATE workflows_effect SET fence = 9 WHERE id = %s", "fence is 9 in its row"),
        ("DELETE FROM workflows_attempt WHERE effect_id = %s", "sends is 0 in its row, 2 by its entries"),
        ("DELETE FROM workflows_entry WHERE subject_id = %s", "no entry tells of it"),
        ("DELETE FROM workflows_entry WHERE subject_id = %s AND event = 'give_back'", "can't come after dispatched"),
        ("UPDATE workflows_entry SET after = 'undone' WHERE subject_id = %s AND event = 'stick'", "entry was changed"),
    ],
)
def test_a_row_or_an_entry_that_says_otherwise_is_found(run: Run, change: str, said: str) -> None:
    effect = Effect.objects.get(kind="compensation", step__name="a")
    with past_triggers():
        sql(change, effect.id)
    _, flaws = check(run.id)
    assert {flaw.subject for flaw in flaws} == {str(effect.id)}
    assert any(said in flaw.what for flaw in flaws), flaws


def test_the_command_exits_with_one_where_rows_and_journal_differ(run: Run) -> None:
    out = io.StringIO()
    call_command("replay", str(run.id), "--check", "--json", stdout=out)
    assert json.loads(out.getvalue())["ok"] is True
    with past_triggers():
        sql("UPDATE workflows_run SET phase = 'running' WHERE id = %s", run.id)
    out = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("replay", str(run.id), "--check", stdout=out)
    assert ended.value.code == 1
    assert "phase is 'running' in its row, 'unwinding' by its entries" in out.getvalue()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense", "--check"], "'nonsense'"),
        ([str(uuid.UUID(int=1)), "--check"], "there is no run"),
        ([str(uuid.UUID(int=1)), "--resume"], "--resume does not exist yet"),
        ([str(uuid.UUID(int=1)), "--fork-from", "crm"], "--fork-from does not exist yet"),
    ],
)
def test_what_cannot_be_replayed_is_refused_in_clear_words(db: None, arguments: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said):
        call_command("replay", *arguments)

"""Whatever is done to history behind the triggers' back, `verify_journal` finds it and names it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command

from tests.engine.simulated import World
from tests.journal.tampering import past_triggers, sql
from workflows import history, proof
from workflows.journal import HASHED, entry_hash
from workflows.models import Checkpoint, Effect, Entry, Payload, Run
from workflows.proof import Flaw, verify

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


@pytest.fixture
def run(world: World, tool: Make, workflow: Make, run_through: Make, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run that turned back and is stuck: chains of a run, of effects, of a case; and a checkpoint over them."""
    for name in ("t.a", "t.b", "t.c"):
        tool(name)
    world.script("t.c", "execute", "refused")
    world.script("t.b", "compensate", "refused")
    run: Run = run_through(workflow("t.a", "t.b", "t.c"))
    monkeypatch.setattr(history, "STILL_OPEN", -history.STILL_OPEN)
    assert history.checkpoint()
    return run


def flaws() -> list[Flaw]:
    found: list[Flaw] = []
    verify(found.append)
    return found


def last_of(subject: Any) -> Entry:
    return Entry.objects.filter(subject_id=subject.id).latest("seq")


def test_an_untouched_journal_is_whole_and_all_of_it_was_read(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "AT_ONCE", 3)  # so that rows and entries are fetched in turns
    out = io.StringIO()
    call_command("verify_journal", "--json", stdout=out)
    told = json.loads(out.getvalue())
    kinds = set(Entry.objects.values_list("subject_kind", flat=True))
    assert kinds == {"run", "effect", "case", "policy"}
    assert (told["ok"], told["flaws"], told["checkpoints"]) == (True, [], 1)
    assert (told["entries"], told["subjects"]) == (
        Entry.objects.count(),
        Entry.objects.values("subject_id").distinct().count(),
    )


def edited_payload(entry: Entry) -> None:
    sql('UPDATE workflows_payload SET data = \'{"outcome": "other"}\' WHERE entry_id = %s', entry.id)


def edited_entry(entry: Entry) -> None:
    sql("UPDATE workflows_entry SET actor = 'nobody' WHERE id = %s", entry.id)


def edited_entry_with_a_new_hash(entry: Entry) -> None:
    values = {**Entry.objects.filter(id=entry.id).values(*HASHED)[0], "actor": "nobody"}
    sql("UPDATE workflows_entry SET actor = 'nobody', hash = %s WHERE id = %s", entry_hash(values), entry.id)


def deleted_last_entry(entry: Entry) -> None:
    sql(
        "DELETE FROM workflows_entry WHERE subject_id = %s AND seq = (SELECT max(seq) FROM workflows_entry"
        " WHERE subject_id = %s)",
        entry.subject_id,
        entry.subject_id,
    )


def deleted_entry(entry: Entry) -> None:
    sql("DELETE FROM workflows_entry WHERE id = %s", entry.id)


def swapped_entries(entry: Entry) -> None:
    sql("UPDATE workflows_entry SET seq = 5 - seq WHERE subject_id = %s AND seq IN (2, 3)", entry.subject_id)


def doubled_entry(entry: Entry) -> None:
    names = ", ".join(n for n in (*HASHED, "hash") if n != "id")
    sql(
        f"INSERT INTO workflows_entry (id, {names}) SELECT gen_random_uuid(), {names} FROM workflows_entry"
        " WHERE id = %s",
        entry.id,
    )


def added_words(entry: Entry) -> None:
    bare = Entry.objects.filter(subject_id=entry.subject_id, payload_digest="")[0]
    sql("INSERT INTO workflows_payload (entry_id, salt, data) VALUES (%s, '', '{}')", bare.id)


def moved_head(entry: Entry) -> None:
    sql("UPDATE workflows_effect SET head = repeat('0', 64) WHERE id = %s", entry.subject_id)


def deleted_row(entry: Entry) -> None:
    sql("DELETE FROM workflows_effect WHERE id = %s", entry.subject_id)


def deleted_chain(entry: Entry) -> None:
    sql("DELETE FROM workflows_entry WHERE subject_id = %s", entry.subject_id)


@pytest.mark.parametrize(
    ("tamper", "said"),
    [
        (edited_payload, "its words were changed"),
        (edited_entry, "the entry was changed"),
        (edited_entry_with_a_new_hash, "it does not follow the entry before it"),
        (deleted_last_entry, "the last entries are missing"),
        (deleted_entry, "are missing"),
        (swapped_entries, "the entry was changed"),
        (doubled_entry, "there is another entry of this number"),
        (added_words, "words were added"),
        (moved_head, "head is not the hash of the last entry"),
        (deleted_row, "its row is gone"),
        (deleted_chain, "no entry tells of it"),
    ],
)
def test_what_was_tampered_with_is_found_with_its_subject_and_place(
    run: Run, tamper: Callable[[Entry], None], said: str
) -> None:
    effect = Effect.objects.get(step__name="a", kind="forward")
    entry = Entry.objects.exclude(payload_digest="").get(subject_id=effect.id, event="acknowledge")
    with past_triggers():
        tamper(entry)
    found = [flaw for flaw in flaws() if flaw.kind != "checkpoint"]
    assert found
    assert {flaw.subject for flaw in found} == {str(effect.id)}
    assert any(said in flaw.what for flaw in found), found
    assert all(flaw.seq <= effect.seq for flaw in found)


def test_a_subject_deleted_with_its_whole_history_is_missed_by_the_checkpoint(run: Run) -> None:
    effect = Effect.objects.get(kind="compensation", step__name="b")
    with past_triggers():
        sql("DELETE FROM workflows_entry WHERE subject_id = %s", effect.id)
        sql("DELETE FROM workflows_effect WHERE id = %s", effect.id)
    assert [flaw.kind for flaw in flaws()] == ["checkpoint"]


def test_a_checkpoint_that_was_rewritten_is_found_by_the_next(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "CHECKPOINT_EVERY", history.CHECKPOINT_EVERY * 0)
    assert history.checkpoint()
    first = Checkpoint.objects.order_by("id")[0]
    with past_triggers():
        sql("UPDATE workflows_checkpoint SET hash = repeat('0', 64) WHERE id = %s", first.id)
    assert [(flaw.kind, flaw.seq) for flaw in flaws()] == [("checkpoint", 1), ("checkpoint", 2)]


def test_words_may_be_erased_and_the_chain_stays_whole(run: Run) -> None:
    erased = Payload.objects.count()
    Payload.objects.all().delete()
    found: list[Flaw] = []
    summary = verify(found.append)
    assert (found, summary.erased) == ([], erased)


def test_the_command_names_the_flaw_and_exits_with_one(run: Run) -> None:
    with past_triggers():
        deleted_last_entry(last_of(run))
    for options in ([], ["--json"]):
        out = io.StringIO()
        with pytest.raises(SystemExit) as ended:
            call_command("verify_journal", *options, stdout=out)
        assert ended.value.code == 1
        assert str(run.id) in out.getvalue()
        assert "the last entries are missing" in out.getvalue()
    told = json.loads(out.getvalue())
    assert (told["ok"], told["flaws"][0]["kind"]) == (False, "run")

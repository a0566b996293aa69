"""A run's pages: what going on would do, what was not done twice, what happened when, and a journal of any length."""

from __future__ import annotations

import datetime as dt
import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from repairs import chains, happened
from repairs.happened import Asked, Deed
from repairs.views import run as plan
from repairs.words import resume
from repairs.words.facts import EffectFacts
from repairs.words.reasons import HELD
from tests.api.conftest import Caller
from tests.engine.simulated import World
from tests.journal.tampering import past_triggers, sql
from workflows.authority import approvals
from workflows.drain import drain_once
from workflows.models import Approval, Effect, Entry, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
NOW = dt.datetime(2026, 3, 10, 14, 2, 3, tzinfo=dt.UTC)


@pytest.fixture
def client(person: Make, browse: Make) -> Client:
    found: Client = browse(person("repairer", "repairer"))
    return found


def fact(state: str, **options: Any) -> EffectFacts:
    return EffectFacts(
        **{"id": "1", "step": "pay", "tool": "t", "state": state, "world": "unknown", "key": "k", **options}
    )


@pytest.mark.parametrize(
    ("effect", "phase", "where", "says"),
    [
        (fact("ready", world="nothing"), "running", "performs", resume.FIRST_TIME),
        (fact("blocked", attempts=2, reason="approval"), "running", "waits",
         f"waits for an approval; then it {resume.AGAIN}"),
        (fact("blocked", reason="hold"), "running", "waits", f"{HELD}; then it {resume.FIRST_TIME}"),
        (fact("ready", id="off"), "unwinding", "keeps", resume.CALLED_OFF),
        (fact("dispatched", attempts=1), "running", "looks", resume.CALLING),
        (fact("pending", attempts=1), "running", "looks", resume.AT_IT),
        (fact("unknown", attempts=1, keyed=True), "running", "looks", resume.LOOKED_AT),
        (fact("unknown", attempts=1, keyed=True, can_look=False), "running", "performs", resume.SAME_KEY),
        (fact("unknown", attempts=1, can_look=False), "running", "people", resume.NOBODY_KNOWS),
        (fact("acknowledged", attempts=1), "running", "looks", resume.ONLY_LOOKED_AT),
        (fact("acknowledged", attempts=1, verifiable=False), "running", "keeps", resume.WORD_ONLY),
        (fact("verified", attempts=1), "running", "keeps", resume.SEEN),
        (fact("verified", attempts=1, unwanted=True, id="now"), "unwinding", "performs", resume.UNDONE_NEXT),
        (fact("verified", attempts=1, unwanted=True), "unwinding", "waits", resume.UNDONE_LATER),
        (fact("verified", attempts=1, unwanted=True, can_undo=False), "unwinding", "keeps", resume.SEEN),
        (fact("undone", attempts=1), "unwinding", "keeps", resume.RESTS[resume.E.UNDONE]),
    ],
)  # fmt: skip
def test_going_on_would_send_what_it_says_it_would_not(effect: EffectFacts, phase: str, where: str, says: str) -> None:
    turn = resume.Turn(called_off=frozenset({"off"}), undone_now=frozenset({"now"}))
    told = resume.resume([effect], phase=phase, turn=turn)
    assert told is not None
    assert [
        (name, one.says) for name in ("performs", "looks", "waits", "people", "keeps") for one in getattr(told, name)
    ] == [(where, says)]


def test_a_step_that_was_never_begun_is_begun_while_a_run_turns_back_or_anything_when_it_is_over() -> None:
    waiting = [("mail", "mail.send", "irreversible")]
    going = resume.resume([], waiting, phase="running")
    assert going is not None
    assert [(one.step, one.irreversible) for one in going.performs] == [("mail", True)]
    turned = resume.resume(
        [fact("verified", unwanted=True), fact("ready", kind="compensation")], waiting, phase="unwinding"
    )
    assert turned is not None
    assert [one.says for one in turned.performs] == [resume.FIRST_TIME]
    assert [one.says for one in turned.keeps] == [resume.SEEN, resume.BEGUN_NO_MORE]
    assert resume.resume([], waiting, phase="over") is None


def test_a_stuck_runs_page_does_not_say_what_going_on_would_and_would_not_do(stuck: Make, client: Client) -> None:
    page = client.get(f"/runs/{stuck().run_id}/").content.decode()
    for piece in ("If it goes on now", "Would perform", "Nothing is sent.", "Waits for a person", "Would not repeat"):
        assert piece in page


def test_an_undoing_that_a_stuck_one_holds_back_is_said_to_be_sent(
    world: World, tool: Make, workflow: Make, run_through: Make, client: Client
) -> None:
    for name in ("crm.contact", "calendar.book", "mail.send"):
        tool(name)
    world.script("mail.send", "execute", "refused")
    world.script("calendar.book", "compensate", "refused")
    run = run_through(workflow("crm.contact", "calendar.book", "mail.send"))
    told = client.get(f"/runs/{run.id}/").context["going_on"]
    assert [(one.step, one.says) for one in told.waits] == [("contact", resume.UNDONE_LATER)]
    assert told.performs == []
    sent = len(world.sends)
    drain_once()
    assert len(world.sends) == sent, "the engine did what the page said it wouldn't"


def test_a_duplicate_is_called_prevented_without_the_rows_that_prove_it(
    world: World, tool: Make, workflow: Make, run_through: Make, client: Client
) -> None:
    tool("pay.charge")
    world.script("pay.charge", "execute", "lost_after")
    run = run_through(workflow("pay.charge"))
    page = client.get(f"/runs/{run.id}/").content.decode()
    assert "Duplicates prevented: 1" in page
    assert "The answer to send 1 was lost. A look found it done; it was not sent again." in page
    proof = re.findall(r'href="(/admin/workflows/(?:attempt|look)/[^"]+)"', page)
    assert len(proof) == 2
    assert [client.get(address).status_code for address in proof] == [200, 200]
    assert len(world.sends) == 1
    well = run_through(workflow("pay.charge"))
    assert "Duplicates prevented" not in client.get(f"/runs/{well.id}/").content.decode()


def test_a_long_wait_is_not_folded_or_does_not_say_for_what() -> None:
    effect = Effect(id=uuid.uuid4(), created_at=NOW, changed_at=NOW, step=None, state="blocked")
    effect.__dict__["step"] = effect._state.fields_cache["step"] = type("Step", (), {"name": "pay"})()
    asked = [Asked(effect.id, NOW, NOW + dt.timedelta(hours=3), "spent", "the role approver")]
    said = [
        Deed(NOW + dt.timedelta(hours=3), "night desk", "approved", effect.id),
        Deed(NOW + dt.timedelta(hours=5), "night desk", "claimed the case"),
    ]
    lines, tail, between = happened.lines([effect], [], [], asked, said)
    assert [line.gap for line in lines if line.gap] == ["3 h waiting on approval", "2 h without anything"]
    assert [(line.kind, line.step) for line in lines[-2:]] == [("person", "pay"), ("person", "")]
    assert (tail, between) == ([], 0)


def test_the_drawing_in_time_has_a_twin_that_leaves_out_people_or_questions(
    world: World, tool: Make, workflow: Make, run_through: Make, client: Client, person: Make
) -> None:
    tool("pay.refund", autonomy="ask")
    run = run_through(workflow("pay.refund"))
    approval = Approval.objects.get()
    approvals.vote(approval.id, by=person("approver", "approver"), why="as agreed", seen_digest=approval.digest)
    drain_once()
    page = client.get(f"/runs/{run.id}/time").content.decode()
    said = "<bdi>approver</bdi></strong> <bdi>approved</bdi>"
    for piece in (said, "asked: the role approver", "send 1: ", "a look found it", 'class="asked"', 'class="deed"'):
        assert piece in page, piece


LONG = 20_000
MANY_ENTRIES = """
INSERT INTO workflows_entry (id, subject_kind, subject_id, run_id, seq, event, before, after, world, fence, actor, at,
  payload_digest, prev, hash)
SELECT (lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid,
  'run', %(run)s, %(run)s, 1000 + n, 'note', 'running', 'running', '', 0, 'engine', now(), '', '', repeat('0', 64)
FROM generate_series(1, %(many)s) n
"""


def test_a_run_of_twenty_thousand_entries_makes_a_page_long_or_slow_to_make(
    world: World, tool: Make, workflow: Make, run_through: Make, client: Client
) -> None:
    tool("crm.contact")
    run = run_through(workflow("crm.contact"))
    address = f"/runs/{run.id}/journal"
    with CaptureQueriesContext(connection) as short:
        client.get(address)
    own = Entry.objects.filter(run_id=run.id).count()
    with connection.cursor() as cursor:
        cursor.execute(MANY_ENTRIES, {"run": run.id, "many": LONG})
    with CaptureQueriesContext(connection) as long:
        answer = client.get(address)
    journal = answer.context["journal"]
    assert (len(journal.lines), len(journal.tail)) == (200, 50)
    assert journal.between == 10_001 - 50, "nobody counts further than ten thousand"
    assert journal.tail[-1]["entry"].seq == 1000 + LONG
    assert len(answer.content) < 250_000
    assert len(short) <= len(long) <= 12
    assert not any("LIMIT" not in query["sql"] and "workflows_entry" in query["sql"] for query in long), "all was read"
    following = client.get(f"{address}?after={journal.next}").context["journal"]
    assert following.lines[0]["entry"].seq == 1000 + 200 - own + 1, "an entry is left out, or comes twice"
    assert client.get(f"{address}?after={journal.next}x").status_code == 400
    assert client.get(f"/runs/{run.id}/").status_code == 200


def test_paging_through_a_journal_loses_or_repeats_an_entry(
    stuck: Make, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("repairs.views.run_journal.FIRST", 3)
    monkeypatch.setattr("repairs.views.run_journal.LAST", 2)
    run: Run = stuck().run
    seen: list[Any] = []
    address = f"/runs/{run.id}/journal"
    while True:
        journal = client.get(address).context["journal"]
        seen += [line["entry"].id for line in journal.lines]
        if not journal.between:
            seen += [line["entry"].id for line in journal.tail]
            break
        address = f"/runs/{run.id}/journal?after={journal.next}"
    assert seen == list(Entry.objects.filter(run_id=run.id).order_by("id").values_list("id", flat=True))
    assert len(seen) > 8


def test_a_run_of_a_thousand_steps_is_shown_in_one_table_or_its_end_is_out_of_sight() -> None:
    lines: Any = list(range(1000))
    first = plan.part(lines, 0)
    assert (first.lines, first.tail, first.between, first.next) == (lines[:200], lines[-50:], 750, 200)
    last = plan.part(lines, 800)
    assert (last.lines, last.tail, last.between, last.first) == (lines[800:], [], 0, False)
    assert plan.part(lines, 5000).lines == []


LEDGER = re.compile(r'<td data-label="(By|Rule|Chain)"[^>]*>(.*?)</td>', re.DOTALL)


def ledger_of(client: Client, run: Run) -> list[str]:
    """By, rule and chain of each line, as text."""
    cells = LEDGER.findall(client.get(f"/runs/{run.id}/").content.decode())
    return [f"{name}: {' '.join(re.sub('<[^>]*>', ' ', text).split())}" for name, text in cells]


def test_a_line_of_the_ledger_lacks_whose_it_is_its_rule_or_whether_its_chain_fits(
    world: World, tool: Make, workflow: Make, run_through: Make, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool("crm.contact")
    run = run_through(workflow("crm.contact"))
    effect = Effect.objects.get(run=run)
    with past_triggers():
        sql("UPDATE workflows_effect SET on_behalf_of = 'the desk' WHERE id = %s", effect.id)
    told = ["By: sim for the desk", "Rule: trusted-auto allow, starter v1", f"Chain: whole {effect.seq} entries"]
    assert ledger_of(client, run) == told
    with past_triggers():
        sql("UPDATE workflows_entry SET actor = 'person:night desk' WHERE subject_id = %s AND seq = 1", effect.id)
    by, _, chain = ledger_of(client, run)
    assert by == "By: night desk for the desk"
    assert chain.startswith("Chain: broken #1: the entry was changed")
    monkeypatch.setattr(chains, "MOST", effect.seq - 1)
    assert ledger_of(client, run)[2] == f"Chain: not read here {effect.seq} entries"


def test_an_entry_that_came_after_its_effect_was_read_breaks_the_chain(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("crm.contact")
    effect = Effect.objects.get(run=run_through(workflow("crm.contact")))
    entries = list(Entry.objects.filter(subject_id=effect.id).order_by("seq"))
    effect.seq, effect.head = entries[1].seq, entries[1].hash
    assert chains.chains([effect])[effect.id].flaw == ""
    effect.head = entries[0].hash
    assert chains.chains([effect])[effect.id].stands == "broken"


def test_the_raw_run_is_shown_as_a_page(stuck: Make, client: Client) -> None:
    run = stuck().run
    with past_triggers():
        Effect.objects.filter(run=run).update(result={"id": 2**60})
    answer = client.get(f"/runs/{run.id}/raw.json")
    assert answer.content == Caller(run.agent).get(f"runs/{run.id}").content, "an agent is given another one"
    assert answer["Content-Disposition"].startswith("attachment")
    assert answer["X-Content-Type-Options"] == "nosniff"

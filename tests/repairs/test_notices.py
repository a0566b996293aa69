"""People are told by mail and web hook that they are needed: of what, at which moment, once, and of no customer."""

from __future__ import annotations

import contextlib
import datetime as dt
import email
import email.policy
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django_q.models import OrmQ

from repairs import cases
from repairs.acts import glass
from repairs.desk import desk_for
from repairs.models import Case, Notice
from repairs.models.glass import Broken
from repairs.models.notice import What
from repairs.notices import saying, sending, standing, telling
from tests.authority.asking import activate
from tests.authority.purse import give
from tests.engine.simulated import World
from tests.repairs.previews import proposed
from tests.repairs.receiving import BASE, Hook, Mailbox, written
from workflows import rows
from workflows.authority import credentials, raising, stops
from workflows.drain import drain_once
from workflows.engine.advance import advance
from workflows.models import Agent, Approval, Credential, Effect
from workflows.models.credential import CredentialState

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
Tell = Callable[..., None]


def test_a_new_case_is_told_by_number_team_and_link_and_without_a_word_of_the_customer(stuck: Make, hook: Hook) -> None:
    case = stuck()
    sending.send()
    (message,) = hook.told
    assert message["title"] == "Makegood: 1 new case"
    assert message["message"] == f"1 new case: C-{case.number} (sim-desk).\n{BASE}/repairs/{case.number}/"
    assert Notice.objects.get().state == "sent"


def test_a_mail_says_as_much_and_names_nothing_of_customer_agent_or_provider(
    told: Tell, stuck: Make, world: World
) -> None:
    mailbox = Mailbox()
    with mailbox.open() as url:
        told(**{"sim-desk": url})
        case = stuck()
        sending.send()
    (raw,) = mailbox.mails
    mail = email.message_from_bytes(raw, policy=email.policy.default)
    assert (mail["To"], mail["Subject"]) == ("desk@example.org", "Makegood: 1 new case")
    text = "".join(part.get_content() for part in mail.walk() if part.get_content_maintype() == "text")
    assert f"C-{case.number}" in text
    effects = Effect.objects.filter(run=case.run)
    secret = [case.run.subject_label, case.run.subject_id, case.sentence, str(case.run_id), case.run.agent.name]
    secret += [text for effect in effects for text in (effect.tool.name, effect.key, effect.external_ref or "")]
    said = (raw.decode() + text).replace("sim-desk", "")  # the team, which begins like the agent
    assert not [words for words in secret if words and words in said]


def test_an_approval_is_told_to_who_may_give_it_and_to_the_agent_s_team(
    told: Tell, world: World, agent: Agent, tool: Make, workflow: Make, begin: Make, person: Make
) -> None:
    tool("t.a")
    person("night-desk", "approver")
    activate("{name: two, when: 'true', then: {ask: {approvers: approver, count: 1, ttl: 1h}}}")
    hook = Hook()
    with hook.open() as url:
        told(approver=url, repairer=url.replace("hidden", "other"))
        begin(workflow("t.a"))
        advance()
        drain_once()
        assert Approval.objects.get().state == "asked"
        assert written() == [("approval", "approver", agent.team)]
        sending.send()
    team = f" ({agent.team})" if agent.team else ""
    assert [m["message"] for m in hook.told] == [f"1 approval is asked for{team}.\n{BASE}/approvals/"]


def test_a_lost_credential_a_stop_of_everything_and_a_higher_budget_are_told(told: Tell, agent: Agent) -> None:
    told(operator="json://127.0.0.1:1/a", approver="json://127.0.0.1:1/b")
    now = rows.now()
    lost = Credential(name="CRM", owner="crm-desk", rotates=True, created_at=now, changed_at=now)
    lost.lose(why="the provider refuses")
    lost.event = "lose"
    with transaction.atomic():
        credentials.write(lost, now)
        credentials.write(lost, now)
    assert written() == [("credential", "operator", "crm-desk")], "a loss is told once"
    stops.freeze("agent", agent.name, by="person:day", why="one agent is for its own desk")
    assert len(written()) == 1
    stops.freeze("everything", by="person:day", why="an attack")
    give("agent:sim", calls=10)
    raising.change("agent:sim", "ever", {"calls": 5}, by="person:night", why="fewer are enough")
    raising.change("agent:sim", "ever", {"calls": 20}, by="person:night", why="more are needed")
    assert sorted(written()[1:]) == [("budget", "approver", ""), ("stop", "approver", ""), ("stop", "operator", "")]


def test_a_proposed_write_off_is_told_to_who_can_confirm_it(told: Tell, stuck: Make, person: Make) -> None:
    told(approver="json://127.0.0.1:1/b")
    proposed(stuck(), person("day-desk", "repairer"))
    assert written() == [("write_off", "approver", "sim-desk")]


def test_many_cases_within_a_minute_are_one_message(stuck: Make, hook: Hook) -> None:
    numbers = [stuck().number for _ in range(5)]
    sending.sweep()
    assert OrmQ.objects.count() == 1, "the sweep rings once for all of them"
    sending.send()
    (message,) = hook.told
    assert message["message"] == (
        f"5 new cases: {', '.join(f'C-{number}' for number in numbers)} (sim-desk).\n{BASE}/repairs/"
    )


def test_the_same_cause_is_told_once(stuck: Make, hook: Hook) -> None:
    case = stuck()
    for _ in range(2):
        with transaction.atomic():
            cases.follow([case.run])
        sending.sweep()
        sending.send()
    assert len(hook.told) == 1
    with transaction.atomic():
        telling.of_cases([case], rows.now())
    assert Notice.objects.count() == 1, "who was told of this opening isn't told again"


def test_one_address_of_a_role_and_a_team_is_told_once(told: Tell, stuck: Make) -> None:
    told(**{"repairer": "json://127.0.0.1:1/x", "sim-desk": "json://127.0.0.1:1/x"})
    stuck()
    assert Notice.objects.count() == 1


def test_a_notice_is_undone_with_what_caused_it(hook: Hook) -> None:
    with contextlib.suppress(ZeroDivisionError), transaction.atomic():
        stops.freeze("everything", by="person:day", why="an attack")
        assert Notice.objects.exists()
        raise ZeroDivisionError
    assert not Notice.objects.exists()


def test_nothing_is_written_asked_or_sent_where_nobody_listens(settings: Any, stuck: Make) -> None:
    settings.NOTICES = ()
    case = stuck()
    with CaptureQueriesContext(connection) as seen, transaction.atomic():
        telling.of_cases([case], rows.now())
        telling.of_asked([Approval()])
    assert not [q for q in seen.captured_queries if "repairs_notice" in q["sql"] or "workflows_agent" in q["sql"]]
    sending.sweep()
    assert (Notice.objects.count(), OrmQ.objects.count()) == (0, 0)


@pytest.mark.parametrize(
    ("gone", "left", "marks"),
    [
        # 24 h of allowance, as hours gone and left.
        (11, 13, []),
        (13, 11, ["50%"]),
        (20, 4, ["80%"]),
        (23.5, 0.5, ["hour"]),
        (24.5, -0.5, ["100%"]),
        (72, -48, []),  # nobody was told in time; what has been late for two days is no news
    ],
)
def test_a_case_whose_time_is_nearly_over_is_told_once_of_each_moment(
    stuck: Make, hook: Hook, gone: float, left: float, marks: list[str]
) -> None:
    case = stuck()
    _place(case, gone, left)
    for _ in range(2):
        sending.sweep()
    told = Notice.objects.filter(what="deadline")
    assert [notice.mark for notice in told] == [f"{mark}.0" for mark in marks]


def test_receivers_hear_of_time_that_stands_still_or_nothing_of_a_cut_off_that_does_not(
    stuck: Make, hook: Hook
) -> None:
    """Twenty of its 24 hours seem gone, nineteen of them waiting for the customer; what is too late doesn't wait."""
    case, hour = stuck(), dt.timedelta(hours=1)
    _place(case, 20, 4)
    Case.objects.filter(id=case.id).update(
        state="waiting", snoozed_until=rows.now() + hour, snooze_cause="customer", paused_since=rows.now() - 19 * hour
    )
    sending.sweep()
    assert not Notice.objects.filter(what="deadline").exists()
    Case.objects.filter(id=case.id).update(cutoff=rows.now() + hour / 2)
    sending.sweep()
    assert [one.mark for one in Notice.objects.filter(what="deadline")] == ["cutoff-hour.0"]


def test_a_cut_off_that_nears_is_told_and_a_later_moment_once_more(stuck: Make, hook: Hook) -> None:
    case = stuck()
    Notice.objects.all().delete()
    _place(case, 1, 23, cutoff=0.5)
    sending.sweep()
    sending.send()
    assert hook.told[0]["message"].startswith(f"1 case is nearly or wholly out of time: C-{case.number} (sim-desk).")
    _place(case, 2, 22, cutoff=-0.1)
    sending.sweep()
    assert [n.mark for n in Notice.objects.order_by("id")] == ["cutoff-hour.0", "cutoff.0"]


def test_what_is_over_before_it_could_be_told_is_not_told(stuck: Make, hook: Hook) -> None:
    case = stuck()
    Case.objects.filter(id=case.id).update(state="resolved", closed_at=rows.now())
    sending.send()
    assert (hook.told, Notice.objects.get().state) == ([], "moot")


def test_what_changed_hands_or_asks_for_help_is_told_no_more_while_its_case_is_open_or_still_once_it_is_closed(
    stuck: Make,
) -> None:
    case = stuck()
    said = [Notice(what=what, subject=case.id) for what in ("take_over", "hand_over", "escalation", "write_off")]
    for notice in said:
        assert standing.still_true([notice]) == {notice.id}, notice.what
    Case.objects.filter(id=case.id).update(state="resolved", closed_at=rows.now())
    assert standing.still_true(said) == set()


def test_d07_a_mail_hides_or_turns_around_what_a_manifest_calls_a_team() -> None:
    team = "sales \u202eeldi\u202c\n\u200bdesk"
    title, text = saying.message([Notice(what="case", subject=uuid.uuid4(), team=team)], {}, "")
    assert text == "1 new case (sales [U+202E]eldi[U+202C] [U+200B]desk)."
    assert title == "Makegood: 1 new case"


def test_one_thing_that_is_told_of_twice_is_said_to_be_two() -> None:
    """Of one case two write-offs may wait; but taken over twice it is one case, and a late review is of one act."""
    one = uuid.uuid4()
    kinds = {"take_over": ("a", "b"), "write_off": ("a", "b"), "glass": ("", telling.LATE), "credential": ("3", "5")}
    told = [Notice(what=what, subject=one, mark=mark) for what, marks in kinds.items() for mark in marks]
    assert saying.message(told, {}, "")[1].splitlines() == [
        "2 write-offs wait for a second person.",
        "1 case was taken over from who held it.",
        "1 credential is lost.",
        "1 act that takes two was done alone and waits for its review.",
    ]


def test_a_kind_of_notice_is_dropped_as_over_because_nobody_said_when_it_is() -> None:
    assert set(standing.STANDS) == set(What) == set(saying.WORDS)


def test_a_broken_glass_is_told_no_more_while_it_waits_for_review_or_still_once_it_was_reviewed(
    told: Tell, person: Make
) -> None:
    by, second, hook = person("alone", "emergency"), person("second", "approver"), Hook()
    with hook.open() as url:
        told(manager=url)
        with transaction.atomic():
            reviewed, waits = (glass.broke(Broken.STOP, uuid.uuid4(), "x", by=by, why="it burns") for _ in range(2))
        glass.review(desk_for(second), reviewed.id, verdict="right", words="seen")
        sending.send()
    (message,) = hook.told
    assert message["title"] == "Makegood: 1 act that takes two was done alone and waits for its review"
    assert message["message"].endswith("/reports/alone/")
    assert {n.subject: n.state for n in Notice.objects.all()} == {waits.id: "sent", reviewed.id: "moot"}


def test_a_stop_that_was_lifted_or_a_credential_that_was_brought_before_it_could_be_told_is_told(
    told: Tell,
) -> None:
    told(operator="json://127.0.0.1:1/a", approver="json://127.0.0.1:1/b")
    now = rows.now()
    found = Credential(name="CRM", owner="crm-desk", rotates=True, created_at=now, changed_at=now)
    found.lose(why="the provider refuses")
    found.event = "lose"
    with transaction.atomic():
        credentials.write(found, now)
    stop = stops.freeze("everything", by="person:day", why="an attack").stop
    assert {what for what, *_ in written()} == {"credential", "stop"}
    Credential.objects.filter(id=found.id).update(state=CredentialState.READY.value)
    stops.lift(stop.id, by="person:night", why="it is over")
    sending.send()
    assert {(notice.state, notice.attempts) for notice in Notice.objects.all()} == {("moot", 0)}


def _place(case: Case, gone: float, left: float, *, cutoff: float | None = None) -> None:
    """As if the case had been open for so many hours, and had so many left."""
    now, hour = rows.now(), dt.timedelta(hours=1)
    Case.objects.filter(id=case.id).update(
        opened_at=now - gone * hour,
        deadline=now + left * hour,
        cutoff=None if cutoff is None else now + cutoff * hour,
    )

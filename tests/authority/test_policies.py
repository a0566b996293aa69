"""The life of a policy: a draft, a dry run over past decisions, a second person, a time; and never a change after."""

from __future__ import annotations

import datetime as dt
import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from tests import locks
from tests.authority.asking import activated, drafted
from tests.authority.test_policy import document, rule
from tests.engine.conftest import again, states
from tests.engine.simulated import World
from workflows import proof, rows
from workflows.authority import dry_run, policies
from workflows.drain import drain_once
from workflows.errors import Denied, Invalid, StaleFence
from workflows.models import Decision, Effect, Policy

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
AUTHOR, OTHER = "person:day-desk", "person:night-desk"
DENY_ALL = document(rule("true", "{deny: nothing leaves today}"), expect="expect: [{verdict: deny}]")
ALLOW_ALL = document(rule("true"), expect="expect: [{verdict: allow}]")


def test_a_new_installation_begins_with_the_shipped_starter(db: None) -> None:
    policy = policies.in_force()
    assert policy is not None
    assert (str(policy), policy.text) == ("starter v1", policies.shipped()["starter"])


def test_each_next_dispatch_asks_the_version_that_is_active_by_then(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a")
    flow = workflow("t.a")
    assert states(run_through(flow)) == {"a forward": "verified present"}
    activated(DENY_ALL)
    stopped = run_through(flow)
    assert states(stopped) == {"a forward": "cancelled nothing"}
    decision = Decision.objects.get(effect__run=stopped)
    assert (decision.verdict, decision.policy, decision.reason) == ("deny", "mine v1", "nothing leaves today")
    assert again(stopped).state == "failed"


def test_a_version_for_later_is_not_asked_before_its_time(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a")
    flow = workflow("t.a")
    later = activated(DENY_ALL, at=rows.now() + dt.timedelta(hours=1))
    assert states(run_through(flow)) == {"a forward": "verified present"}
    with connection.cursor() as cursor:  # an hour later, by the only clock that counts
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("UPDATE workflows_policy SET active_from = now() - interval '1 s' WHERE id = %s", [later.id])
        cursor.execute("SET session_replication_role = DEFAULT")
    assert states(run_through(flow)) == {"a forward": "cancelled nothing"}


def test_a_retry_and_an_undoing_are_decided_anew_with_a_row_each(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a")
    tool("t.b")
    world.script("t.a", "execute", "temporary", "well")
    world.script("t.b", "execute", "refused")
    run = run_through(workflow("t.a", "t.b"))
    decided = Decision.objects.filter(effect__run=run).order_by("id")
    assert [(d.act, d.inputs["act"]["attempt"], d.rule) for d in decided] == [
        ("forward t.a", 1, "trusted-auto"),
        ("forward t.a", 2, "trusted-auto"),
        ("forward t.b", 1, "trusted-auto"),
        ("compensation t.a", 1, "compensates-own-effect"),
    ]


def test_a_compensation_that_is_denied_needs_a_person(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a")
    tool("t.b")
    world.script("t.b", "execute", "refused")
    text = document(rule("act.kind == 'forward'"), expect="expect: [{verdict: allow}]")
    activated(text)
    run = run_through(workflow("t.a", "t.b"))
    assert states(run)["a compensation"] == "stuck nothing"
    assert Effect.objects.get(run=run, kind="compensation").reason == "policy"


def test_who_drafted_it_does_not_activate_it(db: None, settings: Any) -> None:
    settings.FOUR_EYES = "required"
    made = drafted(ALLOW_ALL, by=AUTHOR)
    with pytest.raises(Denied, match="another person must activate it"):
        policies.activate(made.id, by=AUTHOR)
    settings.FOUR_EYES = "when_possible"
    assert policies.activate(made.id, by=AUTHOR).state == "active"


def test_without_a_dry_run_or_with_an_example_that_fails_nothing_becomes_active(db: None) -> None:
    made = policies.draft(ALLOW_ALL, by=AUTHOR)
    with pytest.raises(Invalid, match="on past decisions first"):
        policies.activate(made.id, by=OTHER)
    wrong = drafted(document(rule("true"), expect="expect: [{verdict: deny}]"))
    with pytest.raises(Invalid, match="the policy says allow by r"):
        policies.activate(wrong.id, by=OTHER)
    with pytest.raises(Invalid, match="must lie in the future"):
        policies.activate(drafted(ALLOW_ALL).id, by=OTHER, at=rows.now() - dt.timedelta(seconds=1))
    assert str(policies.in_force()) == "starter v1"


@pytest.mark.django_db(transaction=True)
def test_two_drafts_at_the_same_moment_are_one_version() -> None:
    made: list[Policy] = []
    with transaction.atomic():
        made.append(policies.draft(ALLOW_ALL, by=AUTHOR))
        other = locks.begun(lambda: made.append(policies.draft(DENY_ALL, by=OTHER)))
    other.join(locks.PATIENCE)
    assert [str(one) for one in made] == ["mine v1", "mine v2"]


def test_more_approvers_than_there_are_people_is_refused(db: None, person: Make) -> None:
    person("day-desk", "approver")
    person("judge", "approver", "auditor")  # whose word never counts
    asks = document(rule("true", "{ask: {count: 2}}"), expect="expect: [{verdict: ask}]")
    with pytest.raises(Invalid, match="asks 2 of the role approver, which 1 can fill"):
        activated(asks)
    person("night-desk", "approver")
    assert activated(asks).state == "active"
    named = document(rule("true", "{ask: {approvers: [day-desk, nobody]}}"), expect="expect: [{verdict: ask}]")
    with pytest.raises(Invalid, match="is no login here"):
        activated(named)


def test_an_active_version_is_changed_by_nobody(db: None) -> None:
    made = activated(ALLOW_ALL)
    with pytest.raises(StaleFence, match="draft a new version instead"):
        policies.discard(made.id, by=OTHER)
    for sql in (
        "UPDATE workflows_policy SET text = 'x' WHERE id = %s",
        "UPDATE workflows_policy SET active_from = now() WHERE id = %s",
        "DELETE FROM workflows_policy WHERE id = %s",
    ):
        refused = pytest.raises(DatabaseError, match=r"not changed any more|append-only")
        with refused, transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql, [made.id])


def test_a_dry_run_says_what_past_decisions_would_have_been_and_moves_nothing(
    world: World, tool: Make, workflow: Make, run_through: Make
) -> None:
    tool("t.a")
    tool("t.b", autonomy="ask")
    run = run_through(workflow("t.a", "t.b"))
    text = document(
        rule("tool.name == 't.a'", "{deny: not this one}", "stop-a"), rule("true", name="rest"), expect="expect: []"
    )
    made = policies.draft(text, by=AUTHOR)
    found = dry_run.dry_run(made.id, by=AUTHOR)
    assert (found.asked, found.stricter, found.looser) == (2, 1, 1)
    assert found.counts == {"allow to deny": 1, "ask to allow": 1}
    [asked, denied] = found.differences
    assert (asked["act"], asked["was"]["verdict"], asked["would"]["rule"]) == ("forward t.b", "ask", "rest")
    assert (denied["act"], denied["would"]["reason"], denied["run"]) == ("forward t.a", "not this one", str(run.id))
    assert Policy.objects.get(id=made.id).differences["stricter"] == 1
    assert states(again(run)) == {"a forward": "verified present", "b forward": "blocked nothing"}


def test_history_tells_of_each_version_and_is_proved_whole(db: None) -> None:
    first, second = activated(ALLOW_ALL), activated(DENY_ALL)
    assert [str(first), str(second)] == ["mine v1", "mine v2"]
    assert "-  - {name: r, when: 'true', then: allow}" in policies.difference(first, second)
    policies.discard(policies.draft(ALLOW_ALL, by=AUTHOR).id, by=AUTHOR)
    flaws: list[Any] = []
    proof.verify(flaws.append)
    assert flaws == []


def test_the_whole_way_from_the_command_line(db: None, person: Make, tmp_path: Any) -> None:
    for login in ("day-desk", "night-desk"):
        person(login, "approver")
    file = tmp_path / "mine.yaml"
    file.write_text(DENY_ALL)

    def told(*words: str) -> Any:
        out = io.StringIO()
        call_command("policy", *words, "--json", stdout=out)
        return json.loads(out.getvalue())

    assert told("check", str(file))["examples"] == 1
    assert told("draft", str(file), "--by", "day-desk")["state"] == "draft"
    assert told("dry-run", "mine v1", "--by", "day-desk")["asked"] == 0
    assert told("activate", "mine v1", "--by", "night-desk")["activated_by"] == "person:night-desk"
    assert told("show")["text"] == DENY_ALL
    assert [v["policy"] for v in told("history")["versions"]] == ["mine", "starter"]
    file.write_text("policy: mine\nrules:\n  - {name: r, when: 'agnet.name', then: allow}")
    with pytest.raises(CommandError, match=r"mine.yaml:3:15: rules.0.when: agnet isn't known here"):
        call_command("policy", "check", str(file))
    with pytest.raises(CommandError, match="must be the login of a person"):
        call_command("policy", "draft", "--shipped", "careful", "--by", "nobody")
    drain_once()

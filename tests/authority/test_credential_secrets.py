"""A secret that isn't set, or is refused, parks what needs it, however long, and lets it go once another one is set."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction

from tests.authority.oauth_server import Server
from tests.authority.test_stops import turn_until
from tests.engine.conftest import again
from workflows import catalog, rows
from workflows.authority import static_secrets
from workflows.drain import Drain, drain_once
from workflows.engine import dispatch
from workflows.engine.advance import advance
from workflows.engine.release import release
from workflows.models import Agent, Credential, Effect, Entry, Run
from workflows.outcomes import Acknowledged, Refused, Rejected, Sighting, Verdict
from workflows.policies.after_outcome import after_outcome
from workflows.tasks import sweep
from workflows.toolbox import times_of
from workflows.tools import tokens
from workflows.tools.manifest import load_texts
from workflows.tools.wire import Answer

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]

TOOL = """
tools:
  crm.create:
    version: 1
    kind: http
    profile: {effect_class: irreversible, access: write, environment: trusted, observability: none, autonomy: auto,
              privileges: [], owner: crm-desk, customer_visible: false, residue: "A contact stands."}
    idempotency: {by: native_key, retention: 1h}
    arguments: {type: object}
    execute: {method: POST, url: "URL/things", auth: {bearer: "${ secret('CRM_TOKEN') }"},
              headers: {Idempotency-Key: "${ key }"}, json: {key: "${ key }"}}
    retry: {attempts: 2, first: 10ms, max: 20ms, within: 1ms}
"""


def test_what_needs_a_secret_that_is_not_set_waits_for_it_and_no_attempt_is_used_up(
    server: Server, agent: Agent, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog.apply(load_texts([("m.yaml", TOOL.replace("URL", server.url))]))
    run = begin(workflow("crm.create"))
    drain_once()
    effect = Effect.objects.get()
    assert (effect.state, effect.reason, effect.attempts) == ("blocked", "hold", 0)
    why = "it isn't set; set MAKEGOOD_SECRET_CRM_TOKEN or MAKEGOOD_SECRET_CRM_TOKEN_FILE"
    assert effect.blocked_by == [{"secret": "CRM_TOKEN", "why": why}]
    sweep()
    drain_once()
    assert Effect.objects.get().seq == effect.seq, "nothing is written about waiting on"
    monkeypatch.setenv("MAKEGOOD_SECRET_CRM_TOKEN", "the-token")
    server.valid.add("the-token")
    sweep()
    drain_once()
    assert (again(run).state, [token for _, _, token in server.sends]) == ("completed", ["the-token"])


TWO = """
tools:
  crm.create:
    version: 1
    kind: http
    profile: {effect_class: reversible, access: write, environment: trusted, observability: authoritative_read,
              autonomy: auto, privileges: [], owner: crm-desk, customer_visible: false, residue: "A contact stands."}
    idempotency: {by: native_key, retention: 1h}
    arguments: {type: object}
    execute: {method: POST, url: "URL/things", auth: {bearer: "${ secret('CRM_TOKEN') }"}, UNAUTHORIZED
              headers: {Idempotency-Key: "${ key }"}, json: {key: "${ key }"}, result: {id: "${ body.id }"}}
    verify: {url: "URL/things/${ key }", auth: {bearer: "${ secret('READ_TOKEN') }"}, found: "status == 200",
             absent: "status == 404", result: {id: "${ body.id }"}, settle: 0s, every: 10ms}
    compensate:
      method: DELETE
      url: "URL/things/${ result.id }"
      auth: {bearer: "${ secret('ADMIN_TOKEN') }"}
      verify: {url: "URL/things/${ result.id }", auth: {bearer: "${ secret('READ_TOKEN') }"}, found: "status == 404",
               absent: "status == 200", settle: 0s, every: 10ms}
    retry: {attempts: 2, first: 10ms, max: 20ms, within: 1ms}
"""
TOKENS = {"CRM_TOKEN": "crm-token-1", "READ_TOKEN": "read-token-1", "ADMIN_TOKEN": "admin-token-1"}


@pytest.fixture
def two_steps(server: Server, workflow: Make, begin: Make, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    """`two_steps(answer, said)`: a run whose second step's request meets `answer`; `said`: lines of its manifest."""

    def start(answer: tuple[int, str] | None = None, said: str = "") -> Run:
        for name, value in TOKENS.items():
            monkeypatch.setenv(f"MAKEGOOD_SECRET_{name}", value)
            server.valid.add(value)
        catalog.apply(load_texts([("m.yaml", TWO.replace("URL", server.url).replace("UNAUTHORIZED", said))]))
        made = workflow("crm.create", "crm.create")
        made.spec["steps"][1].update(name="second", after=["create"])
        made.save()
        real = server.resource

        def resource(method: str, path: str, token: str, body: Any) -> Any:
            if answer and method == "POST" and server.things and token == TOKENS["CRM_TOKEN"]:
                server.sends.append((method, path, token))
                return answer[0], {"error": "no"}, answer[1]
            return real(method, path, token, body)

        server.resource = resource  # type: ignore[method-assign]
        run: Run = begin(made)
        drain_once()
        return run

    return start


def second(run: Run) -> Effect:
    return Effect.objects.get(run=run, step__name="second")


def undone(server: Server) -> bool:
    return any(method == "DELETE" for method, _, _ in server.sends)


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("guard", ["on", "off"])
def test_a_static_key_that_is_refused_in_the_middle_of_a_run_undoes_nothing_and_serves_again_when_another_is_set(
    server: Server, two_steps: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, status: int, guard: str
) -> None:
    """C51. Off: who was refused is taken for what was refused, and the more powerful key undoes what stands."""
    if guard == "off":
        monkeypatch.setattr(tokens, "rejected_secrets", lambda used, answer, means: None)
    run = two_steps((status, ""))
    if guard == "off":
        assert undone(server)
        return
    effect = second(run)
    name = "secret CRM_TOKEN" + (" at crm.create" if status == 403 else "")
    assert (again(run).state, effect.state, effect.reason, effect.attempts) == ("running", "blocked", "hold", 0)
    assert [by["credential"] for by in effect.blocked_by] == [name]
    row = Credential.objects.get()
    assert (row.name, row.state, row.owner, row.grant) == (name, "lost", "crm-desk", "static")
    assert not undone(server)
    assert "crm-token-1" not in json.dumps(list(Credential.objects.values()), default=str)
    sends = len(server.sends)
    sweep()
    drain_once()
    assert len(server.sends) == sends, "it was sent although it is known to be refused"
    monkeypatch.setenv("MAKEGOOD_SECRET_CRM_TOKEN", "crm-token-2")
    server.valid.add("crm-token-2")
    sweep()
    drain_once()
    assert (again(run).state, len(server.things), Credential.objects.get().state) == ("completed", 2, "ready")


def test_a_refused_key_forgets_no_earlier_send_that_a_person_had_tried_again(two_steps: Callable[..., Run]) -> None:
    """What may have come late of that one counted as somebody else's: it stood in no residue and was never undone."""
    effect, now = Effect.objects.select_related("tool").get(run=two_steps(), step__name="create"), rows.now()
    effect.attempts, effect.doubt = 1, False
    no = Refused(reason="401", temporary=True, rejected=Rejected(secrets={"CRM_TOKEN": "x"}))
    assert "first_sent_at" not in after_outcome(effect, no, times_of(effect), now).knows
    effect.believe_miss_from = None
    assert after_outcome(effect, no, times_of(effect), now).knows == {"first_sent_at": None}


def test_one_tries_a_refused_key_now_and_then_and_all_go_on_when_it_is_taken_again(
    server: Server, two_steps: Callable[..., Run], begin: Make
) -> None:
    run = two_steps()
    server.valid.discard(TOKENS["CRM_TOKEN"])
    workflow_name = again(run).workflow
    runs = [begin(workflow_name) for _ in range(3)]
    drain_once()
    assert {e.reason for e in Effect.objects.filter(run__in=runs)} == {"hold"}
    posts = sum(method == "POST" for method, _, _ in server.sends)
    Credential.objects.update(ask_at=rows.now())
    sweep()
    drain_once()
    assert sum(method == "POST" for method, _, _ in server.sends) == posts + 1, "more than one tried"
    assert Credential.objects.get().state == "lost"
    server.valid.add(TOKENS["CRM_TOKEN"])
    Credential.objects.update(ask_at=rows.now())
    sweep()
    drain_once()
    assert {again(run).state for run in runs} == {"completed"}
    told = list(Entry.objects.filter(subject_kind="credential").order_by("id").values_list("event", flat=True))
    assert told == ["lose", "accept"], "its owner was told once, of one loss"


def test_all_who_are_dispatched_at_once_try_a_refused_key(
    server: Server, two_steps: Callable[..., Run], begin: Make
) -> None:
    run = two_steps()
    server.valid.discard(TOKENS["CRM_TOKEN"])
    runs = [begin(again(run).workflow) for _ in range(3)]
    drain_once()
    for _ in range(2):
        Credential.objects.update(ask_at=rows.now())
        Effect.objects.filter(run__in=runs, state="blocked").update(due_at=rows.now())
        release(10)
        assert len(dispatch.dispatch(5)) == 1
        assert dispatch.dispatch(5) == []
    assert Effect.objects.filter(run__in=runs, state="blocked", reason="hold").count() == 1


@pytest.mark.parametrize(
    ("said", "parked"),
    [
        ('refused: "status in [400, 403]",', False),
        ('unauthorized: "status == 401",', False),
        ('refused: "status == 400",', True),
        ("unauthorized: \"body.error == 'no'\",", True),
    ],
)
def test_a_403_speaks_of_the_act_where_the_manifest_says_so(
    two_steps: Callable[..., Run], said: str, parked: bool
) -> None:
    run = two_steps((403, ""), said)
    assert (again(run).state == "running", second(run).reason == "hold") == (parked, parked)


def test_a_403_of_who_is_asked_to_wait_speaks_of_the_key() -> None:
    limited = Answer(status=403, headers={"retry-after": "30"}, body=b"", received=0, address="")
    refused = dataclasses.replace(limited, headers={})
    used = {"CRM_TOKEN": "crm-token-1"}
    assert tokens.rejected_secrets(used, limited, None) is None
    assert tokens.rejected_secrets(used, refused, None) == Rejected(secrets=used, only_here=True)
    assert tokens.rejected_secrets(used, dataclasses.replace(limited, status=401), False) is None


def test_a_401_never_speaks_of_the_act_whatever_refused_says(two_steps: Callable[..., Run]) -> None:
    assert second(two_steps((401, ""), 'refused: "status in [400, 401]",')).reason == "hold"


def test_a_refused_key_of_looks_alone_proves_nothing_and_holds_back_what_could_not_be_verified(
    server: Server, two_steps: Callable[..., Run], begin: Make
) -> None:
    run = two_steps()
    server.valid.discard(TOKENS["READ_TOKEN"])
    other = begin(again(run).workflow)
    drain = Drain(slots=2)
    turn_until(drain, lambda: Credential.objects.filter(state="lost").exists())
    drain.close()
    effect = Effect.objects.get(run=other)
    assert (effect.state, effect.world, effect.misses) == ("acknowledged", "unknown", 0)
    assert not effect.looks.filter(reached=True).exists()
    third = begin(again(run).workflow)
    advance()
    assert dispatch.dispatch(1) == []
    assert Effect.objects.get(run=third).blocked_by[0]["credential"] == "secret READ_TOKEN"


@pytest.mark.parametrize(("path", "status"), [("POST", 429), ("POST", 503), ("GET", 200)])
def test_an_answer_that_says_nothing_of_a_lost_key_while_one_tries_it_does_not_let_all_the_others_go(
    server: Server, two_steps: Callable[..., Run], begin: Make, path: str, status: int
) -> None:
    """A limiter or a proxy answers before anybody asks who sent it; and a look comes with another key."""
    run = two_steps()
    first = Effect.objects.select_related("tool").get(run=run, step__name="create")
    server.valid.discard(TOKENS["CRM_TOKEN"])
    runs = [begin(again(run).workflow) for _ in range(3)]
    drain_once()
    Credential.objects.update(ask_at=rows.now())
    sweep()
    advance()
    release(10)
    (tries,) = dispatch.dispatch(5)
    if path == "GET":
        static_secrets.heed([(first, Sighting(verdict=Verdict.FOUND))])
    else:
        static_secrets.heed([(tries, Refused(reason=f"status {status}", temporary=True))])
    with transaction.atomic():
        assert static_secrets.hold_back([tries], rows.now(), []) == [tries], "who was to try it had not tried it yet"
    assert Credential.objects.get().state == "lost"
    assert Effect.objects.filter(run__in=runs, state="blocked", due_at__lte=rows.now()).count() == 0
    static_secrets.heed([(tries, Acknowledged(result={}))])
    assert Credential.objects.get().state == "ready"

"""Who tries a key that was refused, when, and which answers say that it is taken again."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import transaction

from tests import locks
from tests.authority.oauth_server import Server
from tests.authority.test_credential_secrets import TOKENS, two_steps
from tests.engine.conftest import again
from workflows import rows
from workflows.authority import static_secrets
from workflows.drain import drain_once
from workflows.engine import dispatch
from workflows.engine.release import release
from workflows.models import Credential, Effect, Run
from workflows.outcomes import Acknowledged, Outcome, Pending, Refused, Rejected, Sighting, Verdict

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
CRM, READ = "secret CRM_TOKEN", "secret READ_TOKEN"
NO = Refused(reason="401", temporary=True, rejected=Rejected(secrets={"CRM_TOKEN": TOKENS["CRM_TOKEN"]}))
__all__ = ["two_steps"]


@pytest.fixture(autouse=True)
def nobody_tries() -> Iterator[None]:
    static_secrets.trying.clear()
    yield
    static_secrets.trying.clear()


@pytest.fixture
def waiting(server: Server, two_steps: Callable[..., Run], begin: Make) -> list[Effect]:
    """Three that wait for a key that is refused, the oldest first."""
    run = two_steps()
    server.valid.discard(TOKENS["CRM_TOKEN"])
    runs = [begin(again(run).workflow) for _ in range(3)]
    drain_once()
    assert Credential.objects.get().state == "lost"
    return list(Effect.objects.filter(run__in=runs, state="blocked", reason="hold").order_by("epoch"))


def due() -> list[Effect]:
    return list(Effect.objects.filter(state="blocked", due_at__lte=rows.now()).order_by("epoch"))


def test_a_key_that_another_one_has_taken_the_place_of_still_holds_back(
    waiting: list[Effect], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAKEGOOD_SECRET_CRM_TOKEN", "another-token")
    Effect.objects.filter(state="blocked").update(due_at=rows.now())
    release(10)
    assert len(dispatch.dispatch(5)) == 3


def test_all_are_woken_to_try_it_or_the_same_one_each_time(waiting: list[Effect]) -> None:
    static_secrets.wake()
    assert due() == [], "it was refused just now"
    Credential.objects.update(ask_at=rows.now())
    Effect.objects.filter(id=waiting[0].id).update(backoffs=3)
    static_secrets.wake()
    assert due() == [waiting[1]], "its own act may be what is refused"


def test_two_workers_at_the_same_moment_both_try_a_refused_key(waiting: list[Effect]) -> None:
    Credential.objects.update(ask_at=rows.now())
    Effect.objects.filter(state="blocked").update(due_at=rows.now())
    release(10)
    found: list[Effect] = []
    with transaction.atomic():
        first = dispatch.dispatch(1)
        other = locks.begun(lambda: found.extend(dispatch.dispatch(2)))
    other.join(locks.PATIENCE)
    assert ([effect.id for effect in first], found) == ([waiting[0].id], [])


def test_a_key_that_nobody_waits_for_stays_lost(waiting: list[Effect]) -> None:
    Effect.objects.filter(state="blocked").update(blocked_by=[{"credential": "another", "why": "x"}])
    Credential.objects.update(ask_at=rows.now())
    static_secrets.wake()
    assert Credential.objects.get().state == "ready"


def sent(effect: Effect, state: str = "dispatched") -> Effect:
    found = Effect.objects.select_related("tool").get(id=effect.id)
    found.__dict__["state"] = state
    return found


SILENT: list[tuple[str, str, Outcome | Sighting]] = [
    (CRM, "pending", Acknowledged(result={})),  # what is asked after came with no key of a send
    (READ, "dispatched", Acknowledged(result={})),  # a send comes without the key of looks
    (READ, "acknowledged", Sighting(verdict=Verdict.INCONCLUSIVE, reached=False)),  # nobody behind the door
    (CRM, "dispatched", Refused(reason="429", temporary=True)),
]
TAKEN: list[tuple[str, str, Outcome | Sighting]] = [
    (CRM, "dispatched", Acknowledged(result={})),
    (CRM, "dispatched", Pending(poll={"url": "x"})),
    (CRM, "dispatched", Refused(reason="422", temporary=False)),  # of the act: who asked was let in
    (READ, "acknowledged", Sighting(verdict=Verdict.ABSENT, reached=True)),
]


def after(effect: Effect, name: str, state: str, answer: Outcome | Sighting) -> str:
    """What the lost key of that name is once the answer came to who tries it."""
    Credential.objects.update(name=name, secret=name.removeprefix("secret "), state="lost")
    static_secrets.trying[name] = effect.id
    static_secrets.heed([(sent(effect, state), answer)])
    return str(Credential.objects.get(name=name).state)


def test_an_answer_that_says_nothing_of_a_key_takes_it_again_or_one_that_does_not(waiting: list[Effect]) -> None:
    for case in SILENT:
        assert after(waiting[0], *case) == "lost", case
        static_secrets.trying.clear()
    for case in TAKEN:
        assert after(waiting[0], *case) == "ready", case
        assert not static_secrets.trying, "who tried it tries on"


def test_of_two_answers_at_once_the_yes_counts_and_the_no_is_forgotten(waiting: list[Effect]) -> None:
    static_secrets.trying[CRM] = waiting[0].id
    static_secrets.heed([(sent(waiting[0]), Acknowledged(result={})), (sent(waiting[1]), NO)])
    assert Credential.objects.get().state == "lost"


def test_a_second_loss_is_its_first_owners_and_may_be_tried_at_once(waiting: list[Effect]) -> None:
    assert after(waiting[0], CRM, "dispatched", Acknowledged(result={})) == "ready"
    Credential.objects.update(owner="another-desk")
    static_secrets.heed([(sent(waiting[0]), NO)])
    now = Credential.objects.get()
    assert (now.state, now.owner) == ("lost", "crm-desk")
    assert now.ask_at is not None
    assert now.ask_at > rows.now() + dt.timedelta(minutes=4)

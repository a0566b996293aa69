"""C31: what a provider tells by itself is a hint. Twice, late, in a wrong order: it causes looks and moves nothing."""

from __future__ import annotations

import base64
import datetime as dt
import hmac
import json
import threading
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from tests.blackbox import manifests
from tests.blackbox.conftest import Story
from workflows import rows
from workflows.authority import signatures
from workflows.authority.keys import Unauthenticated
from workflows.models import Effect, Entry, Hook

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # of the specification's own example
HOOKS = "    hooks: {source: crm, names: [body.data.reference, body.data.id]}\n"
# One look at once, and the next one later than anybody here waits.
RARELY = "{settle: 30s, every: 60s, looks: 3, within: 5m}"


def heard(asking: str = RARELY, **fields: Any) -> str:
    return manifests.tool("crm.contact", "contacts", asking=asking, **fields).rstrip() + "\n" + HOOKS


@pytest.fixture(autouse=True)
def source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAKEGOOD_SECRET_HOOK_CRM", SECRET)


def tell(event: str, *, off: float = 0.0, secret: str = SECRET, source: str = "crm", **body: Any) -> tuple[int, Any]:
    """POSTs an event, signed `off` seconds ago; the status and the answer."""
    stamp = str(int(rows.now().timestamp() - off))
    text = json.dumps(body)
    key = base64.b64decode(secret.removeprefix("whsec_"))
    made = base64.b64encode(hmac.digest(key, f"{event}.{stamp}.{text}".encode(), "sha256")).decode()
    headers = {"webhook-id": event, "webhook-timestamp": stamp, "webhook-signature": f"v1a,xx v1,{made}"}
    answer = Client().post(f"/api/v1/hooks/{source}", text, content_type="application/json", headers=headers)
    return answer.status_code, json.loads(answer.content)


def waiting(story: Story) -> tuple[str, Effect]:
    """A run whose effect was acknowledged, and whose first look came before the search showed it."""
    story.apply(manifests.one_step(heard()))
    story.world.script(method="GET", read="missing")
    run = story.agent.start()
    story.until(lambda: Effect.objects.filter(run_id=run, state="acknowledged", misses=0, looks__isnull=False).exists())
    story.settle()
    return run, Effect.objects.get(run_id=run)


@pytest.mark.parametrize("by", ["id", "reference"])
def test_a_hint_causes_a_look_at_once_and_the_look_decides(story: Story, by: str) -> None:
    run, effect = waiting(story)
    name = effect.external_ref if by == "id" else effect.key
    status, told = tell("evt-1", type="contact.created", data={by: name})
    assert (status, told["new"], told["looks"]) == (202, True, 1)
    assert Effect.objects.get(id=effect.id).state == "acknowledged", "a hint moved a state"
    truth = story.truth(run)
    assert (truth.state, truth.effects) == ("completed", {"contact forward": "verified present"})
    assert Entry.objects.filter(subject_id=effect.id, event="note", actor="hook crm").count() == 1


def test_a_hint_that_lies_moves_nothing(story: Story) -> None:
    """Late, in the wrong order, of an attempt that failed: what stands is what the authority shows."""
    run, effect = waiting(story)
    tell("evt-66", type="contact.updated", data={"reference": effect.key, "at": 66})
    story.settle()
    for n, kind in enumerate(("contact.created", "contact.failed", "contact.deleted")):
        assert tell(f"evt-{n}", type=kind, data={"reference": effect.key, "at": 65})[0] == 202
    truth = story.truth(run)
    assert (truth.state, truth.effects) == ("completed", {"contact forward": "verified present"})
    assert [h.effects for h in Hook.objects.all()] == [[str(effect.id)]] * 4


def test_two_copies_at_the_same_moment_are_one(story: Story) -> None:
    run, effect = waiting(story)
    answers: list[tuple[int, Any]] = []
    ready = threading.Barrier(2, timeout=30)

    def one() -> None:
        try:
            connection.ensure_connection()
            ready.wait()
            answers.append(tell("evt-1", data={"reference": effect.key}))
        finally:
            connection.close()

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(status for status, _ in answers) == [200, 202]
    assert len({told["id"] for _, told in answers}) == 1
    assert Hook.objects.count() == 1
    assert Entry.objects.filter(subject_id=effect.id, actor="hook crm").count() == 1
    assert story.truth(run).state == "completed"


@pytest.mark.parametrize(("off", "taken"), [(-120, True), (290, True), (-310, False), (310, False)])
def test_a_clock_that_is_off_is_borne_both_ways_and_told(story: Story, off: int, taken: bool) -> None:
    status, told = tell("evt-1", off=off, data={})
    if taken:
        assert status == 202
        assert abs(told["skew"] - off) < 30
    else:
        assert (status, told["code"]) == (401, "unauthenticated")
        assert "up to 300 s either way" in told["detail"]
        assert ("ahead of our clock" in told["detail"]) == (off < 0)
    assert Hook.objects.count() == taken


def test_what_names_nothing_that_we_know_is_kept(story: Story) -> None:
    story.apply(manifests.one_step(heard()))
    status, told = tell("evt-1", type="contact.created", data={"id": "con-999"}, odd=[1, {"x": None}])
    assert (status, told["looks"]) == (202, 0)
    (kept,) = Hook.objects.all()
    assert (kept.effects, kept.body["data"], kept.source) == ([], {"id": "con-999"}, "crm")


def test_only_who_knows_the_secret_is_heard(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    other = "whsec_" + base64.b64encode(b"another secret").decode()
    assert tell("evt-1", secret=other, data={})[0] == 401
    assert tell("evt-1", source="nobody", data={})[0] == 404
    assert tell("evt 1", data={})[0] == 401
    assert not Hook.objects.exists()
    monkeypatch.setenv("MAKEGOOD_SECRET_HOOK_CRM", f"{other} {SECRET}")
    assert tell("evt-1", data={})[0] == 202, "the old secret still signs while it is replaced"
    assert tell("evt-2", secret=other, data={})[0] == 202


def test_a_body_that_is_no_object_is_refused_and_not_kept(story: Story) -> None:
    stamp = str(int(rows.now().timestamp()))
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    made = base64.b64encode(hmac.digest(key, f"e.{stamp}.[1]".encode(), "sha256")).decode()
    headers = {"webhook-id": "e", "webhook-timestamp": stamp, "webhook-signature": f"v1,{made}"}
    answer = Client().post("/api/v1/hooks/crm", "[1]", content_type="application/json", headers=headers)
    assert (answer.status_code, Hook.objects.count()) == (400, 0)


def test_the_signature_is_that_of_the_specification() -> None:
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    at = dt.datetime.fromtimestamp(1614265330, dt.UTC)
    keys = signatures.secrets_of("crm")
    assert signatures.check(headers, b'{"test": 2432232314}', keys, now=at) == (headers["webhook-id"], at)
    with pytest.raises(Unauthenticated, match="No signature"):
        signatures.check(headers, b'{"test": 2432232315}', keys, now=at)

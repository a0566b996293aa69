"""Texts that no database can hold: a client's are refused before anything is written, a provider's are kept, marked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.api.conftest import Caller, problem, read
from tests.engine import simulated
from workflows.drain import drain_once
from workflows.models import Effect, Run
from workflows.outcomes import Acknowledged, Refused, Sighting, Unknown, Verdict

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
HELD_BY_NONE = "a\x00b\ud800c\udc00"


@pytest.mark.parametrize(
    "outcome",
    [
        Acknowledged(result={"id": HELD_BY_NONE, HELD_BY_NONE: [HELD_BY_NONE]}),
        Refused(reason=HELD_BY_NONE, evidence={"body": HELD_BY_NONE}),
        Unknown(reason=HELD_BY_NONE, evidence={HELD_BY_NONE: HELD_BY_NONE}),
    ],
    ids=["acknowledged", "refused", "unknown"],
)
def test_what_a_provider_answered_is_kept_whatever_characters_it_holds(
    caller: Caller, monkeypatch: pytest.MonkeyPatch, outcome: Any
) -> None:
    seen = Sighting(verdict=Verdict.FOUND, result={"id": HELD_BY_NONE}, evidence={"text": HELD_BY_NONE})
    monkeypatch.setattr(simulated.SimTool, "send", lambda _self, _call: outcome)
    monkeypatch.setattr(simulated.SimTool, "look", lambda _self, _call: seen)
    run = caller.start()
    drain_once()
    effect = Effect.objects.get(run=run["id"])
    assert effect.state in ("verified", "failed"), (effect.state, effect.reason, effect.detail)
    answer = caller.get(f"effects/{effect.id}")
    assert answer.status_code == 200
    assert read(answer)["attempts"][0]["outcome"] == type(outcome).__name__.lower()
    assert effect.sends.count() == 1, "an answer that could not be stored must not cause a second send"


def test_an_answer_nested_hundreds_of_levels_deep_breaks_every_read_of_its_run(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep: dict[str, Any] = {"the": "end"}
    for _ in range(400):
        deep = {"a": deep}
    monkeypatch.setattr(simulated.SimTool, "send", lambda _self, _call: Acknowledged(result=deep))
    monkeypatch.setattr(simulated.SimTool, "look", lambda _self, _call: Sighting(verdict=Verdict.FOUND))
    run = caller.start()
    drain_once()
    for path in (f"runs/{run['id']}", f"effects/{Effect.objects.get(run=run['id']).id}"):
        answer = caller.get(path)
        assert (answer.status_code, b'the\\": \\"end' in answer.content) == (200, True), path


def test_a_right_that_was_taken_since_is_not_answered_from_what_was_kept(caller: Caller) -> None:
    body = {"workflow": "sim", "subject": {"type": "customer", "id": "1", "label": "Acme"}}
    run = read(caller.post("runs", body, key="k"))["id"]
    caller.agent.workflows = []
    caller.agent.save()
    answer = caller.post("runs", body, key="k")
    assert problem(answer) == (403, "denied", [])
    assert run not in answer.content.decode()
    assert Run.objects.count() == 1

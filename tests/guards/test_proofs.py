"""Guards of proofs and of undoing in pairs: with each the promise holds, without it the same story breaks it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.blackbox import manifests
from tests.blackbox.conftest import Story
from tests.blackbox.conftest import story as _story
from tests.blackbox.conftest import world as _world
from tests.blackbox.test_c17_versions import effect
from tests.blackbox.test_c28_alike import upsert
from tests.blackbox.test_c33_refunds import charged
from tests.blackbox.updates import RETITLE
from workflows import ledger
from workflows.engine.parts import asking, fresh
from workflows.models import ScopeHold
from workflows.tools import versions
from workflows.tools.http import standing

story, world = _story, _world
Make = Callable[..., Any]
on_and_off = pytest.mark.parametrize("guard", ["on", "off"])


@on_and_off
def test_what_came_back_another_way_is_not_paid_back_on_top(
    guard: str, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Off: what stands isn't read before it is undone."""
    if guard == "off":
        monkeypatch.setattr(standing, "read", lambda *_: {"remaining": 1000})
    _, till, gate = charged(story)
    till.pay_back(1000)
    gate.release()
    story.settle()
    assert (till.paid_back <= 1000) == (guard == "on")


@on_and_off
def test_a_read_of_the_past_is_not_taken_for_an_undoing(
    guard: str, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Off: looks aren't proved by versions."""
    if guard == "off":
        monkeypatch.setattr(versions, "weighed", lambda seen, *_, **__: seen)
    story.apply(RETITLE)
    story.world.script(method="POST", path="/refusals", answer="422")
    gate = story.world.hold("/refusals")
    document = story.world.plant("docs", title="A")
    run = story.agent.start("retitle-and-fail", input={"id": document, "title": "B"})
    story.until(lambda: gate.arrived(timeout=0))
    story.world.script(method="PATCH", path="/docs/", book="never")
    story.world.script(method="GET", path="/docs/", read="lagging", times=None)
    gate.release()
    story.settle()
    assert (story.world.book.objects[document].body or {})["title"] == "B"
    assert (effect(story, run)["world"] == "gone") == (guard == "off")


@on_and_off
def test_two_spellings_of_one_customer_make_one(guard: str, story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """Off: who waited for the scope goes on what the world showed before."""
    if guard == "off":
        monkeypatch.setattr(asking, "anew", lambda effects, *_: effects)
    story.apply(manifests.manifest([upsert()], [manifests.workflow("onboarding", manifests.step("a", "crm.upsert"))]))
    gate = story.world.hold("/people")
    story.agent.start(email="Ann@x.test")
    story.until(lambda: gate.arrived(timeout=0))
    second = story.agent.start(email="ann@X.test")
    story.until(lambda: [w["reason"] for w in story.agent.get(f"runs/{second}")["blocked_by"]] == ["order"])
    gate.release()
    story.settle()
    assert (len(story.world.objects("people")) == 1) == (guard == "on")


READ = """
  doc.read:
    version: 1
    kind: http
    profile: {effect_class: read_only, access: read_only, environment: trusted, observability: authoritative_read,
              autonomy: auto, privileges: [], owner: docs-desk, customer_visible: false, residue: ""}
    arguments: {type: object, required: [id], properties: {id: {type: string}}}
    execute: {url: "${ env.WORLD_URL }/docs/${ args.id }", method: GET, version: "${ headers.etag }"}
"""


@on_and_off
def test_a_write_is_not_sent_on_a_base_that_was_changed(
    guard: str, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Off: what was read isn't read again before the write."""
    if guard == "off":
        monkeypatch.setattr(fresh, "stale", lambda _reads: None)
    after = '{id: "${ input.id }"}'
    steps = [manifests.step("read", "doc.read", arguments=after), manifests.step("contact", "crm.contact")]
    flow = manifests.workflow("onboarding", *steps).replace("amount: {type: integer}", "id: {type: string}")
    story.apply(manifests.manifest([READ, manifests.CONTACT], [flow]))
    document = story.world.plant("docs", title="A")
    gate = story.world.hold("/docs/", "GET", where="booked")
    story.agent.start(input={"id": document})
    story.until(lambda: gate.arrived(timeout=0))
    story.world.book.write(story.world.book.objects[document], {"title": "B"})
    gate.release()
    story.settle()
    assert (story.world.wire("POST") == []) == (guard == "on")


@on_and_off
def test_nobody_gets_in_between_a_refused_undoing_and_its_fallback(
    guard: str, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Off: a refused undoing lets its scope go."""
    free: list[bool] = []
    if guard == "off":
        monkeypatch.setattr(ledger, "hand_back", lambda ids: ledger.let_go(ids))
    real = ledger.create_effects

    def made(effects: Any, **options: Any) -> None:
        if any(e.generation for e in effects):
            free.append(not ScopeHold.objects.exists())
        real(effects, **options)

    monkeypatch.setattr(ledger, "create_effects", made)
    withdraw = manifests.tool("crm.withdraw", "withdrawals", compensate=None, effect_class="irreversible")
    contact = manifests.tool("crm.contact", "contacts", undoing='refused: "status == 422"\nfallbacks: [crm.withdraw]')
    steps = [manifests.step("contact", "crm.contact"), manifests.step("booking", "calendar.booking")]
    tools = [contact, withdraw, manifests.BOOKING]
    story.apply(manifests.manifest(tools, [manifests.workflow("onboarding", *steps)]))
    story.world.script(method="POST", path="/bookings", answer="422")
    story.world.script(method="DELETE", path="/contacts", answer="422", times=None)
    story.agent.start()
    story.settle()
    assert free == [guard == "off"]

"""C28: when two mail addresses are the same record is declared by each tool; what isn't sure is a person's."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest

from tests.blackbox import manifests
from tests.blackbox.conftest import Story
from workflows.models import Effect

ALIKE = """
    verify:
      url: "${ env.WORLD_URL }/@collection@"
      match: {wants: "${ args.email }", fields: [email, others], rules: @rules@}
      result: {id: "${ matches[0].id }"}
"""
ALL = "[trim, nfc, case]"
JOSE = unicodedata.normalize("NFD", "jos\u00e9@x.test")
SCOPE = "${ args.email.trim().fold() }"


def upsert(rules: str = ALL, adopt: str = "equal") -> str:
    made = manifests.tool(
        "crm.upsert",
        "people",
        by=f"{{by: natural_key, adopt: {adopt}}}",
        headers="{}",
        verify=ALIKE.replace("@rules@", rules),
        undoing="",
    )
    return made.replace("${ args.email.lowerAscii() }", SCOPE)


def asked(story: Story, email: str, rules: str = ALL, *fails: str) -> Effect:
    """What becomes of an upsert of this address."""
    steps = [manifests.step("contact", "crm.upsert"), *(manifests.step("booking", name) for name in fails)]
    tools = [upsert(rules), manifests.BOOKING]
    story.apply(manifests.manifest(tools, [manifests.workflow("onboarding", *steps)]))
    run = story.agent.start(email=email)
    story.settle()
    return Effect.objects.get(run_id=run, kind="forward", step__name="contact")


def plant(story: Story) -> dict[str, str]:
    """Those that stand there already, by what they are called in this file."""
    return {
        "jose": story.world.plant("people", email=JOSE),
        "ann": story.world.plant("people", email="Ann@X.test"),
        "b": story.world.plant("people", email="main@x.test", others=["b@x.test"]),
        "plus": story.world.plant("people", email="c+1@x.test"),
    }


@pytest.mark.parametrize(
    ("email", "whose"),
    [("jos\u00e9@x.test", "jose"), ("ann@x.test", "ann"), ("b@x.test", "b"), (" Ann@x.TEST ", "ann")],
    ids=["composed", "another case", "an alias", "blanks around it"],
)
def test_what_is_equal_under_the_declared_rules_is_adopted_and_nothing_is_sent(
    story: Story, email: str, whose: str
) -> None:
    there = plant(story)
    effect = asked(story, email)
    assert (effect.state, effect.reason, effect.external_ref) == ("verified", "met", there[whose])
    assert story.world.wire("POST") == []


def test_what_stands_after_a_plus_is_not_overlooked(story: Story) -> None:
    there = plant(story)
    effect = asked(story, "c@x.test")
    assert (effect.state, effect.reason) == ("verified", "")
    assert effect.external_ref not in there.values()


def test_the_original_spelling_is_what_is_sent(story: Story) -> None:
    effect = asked(story, " New.Person@X.test")
    assert story.world.wire("POST")[0].body["email"] == " New.Person@X.test"
    assert (effect.state, effect.scopes) == ("verified", ["people:new.person@x.test"])


@pytest.mark.parametrize(
    ("email", "rules", "more"),
    [
        ("ann@x.test", "[nfc]", {}),
        ("jos\u00e9@x.test", "[case]", {}),
        ("ann@x.test", ALL, {"email": "ANN@x.test"}),
    ],
    ids=["only if case is overlooked", "only if composition is overlooked", "two of them"],
)
def test_what_may_be_the_same_or_may_not_is_a_persons_and_nothing_is_sent(
    story: Story, email: str, rules: str, more: dict[str, Any]
) -> None:
    plant(story)
    if more:
        story.world.plant("people", **more)
    effect = asked(story, email, rules)
    assert (effect.state, effect.reason, story.world.wire("POST")) == ("stuck", "already_there", [])
    assert effect.world == ("several" if more else "differs")


def test_what_stood_there_before_us_is_neither_undone_nor_stated_when_the_run_turns_back(story: Story) -> None:
    plant(story)
    story.world.script(method="POST", path="/bookings", answer="422")
    effect = asked(story, "ann@x.test", ALL, "calendar.booking")
    run = story.agent.get(f"runs/{effect.run_id}")
    assert (run["state"], run["residue"], story.world.wire("DELETE")) == ("failed", [], [])
    assert len(story.world.objects("people")) == 4


def test_two_spellings_of_one_key_wait_for_each_other(story: Story) -> None:
    story.apply(manifests.manifest([upsert()], [manifests.workflow("onboarding", manifests.step("a", "crm.upsert"))]))
    gate = story.world.hold("/people")
    first = story.agent.start(email="Ann@x.test")
    story.until(lambda: gate.arrived(timeout=0))
    second = story.agent.start(email="ann@X.test")
    story.until(lambda: [w["reason"] for w in story.agent.get(f"runs/{second}")["blocked_by"]] == ["order"])
    assert story.agent.get(f"runs/{second}")["blocked_by"][0]["chain"][0]["run"] == first
    gate.release()
    story.settle()
    assert len(story.world.objects("people")) == 1, "one person was made twice"

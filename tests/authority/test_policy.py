"""Policies as documents: what is decided and in which order, what is refused with its line, and what an error does."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

from workflows.authority import policies, policy
from workflows.authority.approvals import digest
from workflows.authority.policy import facts
from workflows.errors import Invalid

EXPECT = "expect: [{verdict: allow}]"


def document(*rules: str, expect: str = EXPECT) -> str:
    return "\n".join(["policy: mine", "rules:", *(f"  - {rule}" for rule in rules), expect])


def rule(when: str, then: str = "allow", name: str = "r") -> str:
    return f"{{name: {name}, when: {when!r}, then: {then}}}"


def decide(text: str, **differs: Any) -> policy.Verdict:
    return policy.check(text, label="mine v1").ruled.decide(facts.example(differs))


def flaw_of(text: str) -> str:
    with pytest.raises(Invalid) as caught:
        policy.check(text)
    return str(caught.value)


@pytest.mark.parametrize("name", ["starter", "careful"])
def test_what_ships_is_sound_and_its_own_examples_hold(name: str) -> None:
    checked = policy.check(policies.shipped()[name])
    assert (checked.name, policy.flaws(checked)) == (name, [])


def test_the_first_rule_that_holds_decides_and_nothing_is_allowed_without_one() -> None:
    text = document(rule("act.attempt == 1", "{deny: first}", "a"), rule("true", name="b"))
    assert decide(text) == policy.Verdict("deny", "a", "first", policy="mine v1")
    assert decide(text, act={"attempt": 2}).rule == "b"
    assert decide(document(rule("false"))).verdict == "deny"
    assert decide(document(rule("false"))).rule == "no-rule"


def test_asking_says_whom_how_many_and_how_long() -> None:
    asks = decide(document(rule("true", "{ask: {approvers: [day-desk, night-desk], count: 2, ttl: 90m, why: big}}")))
    assert asks == policy.Verdict("ask", "r", "big", ("day-desk", "night-desk"), 2, 5400.0, "mine v1")


def test_a_matrix_says_what_holds_for_each_access_in_each_environment() -> None:
    cells = "read_only: {trusted: allow, untrusted: allow}, constrained_write: {trusted: allow, untrusted: {ask: {}}}"
    text = document(f"{{name: m, matrix: {{{cells}, write: {{trusted: allow, untrusted: {{deny: no}}}}}}}}")
    said = {
        (access, where): decide(text, profile={"access": access, "environment": where}).verdict
        for access in ("read_only", "constrained_write", "write")
        for where in ("trusted", "untrusted")
    }
    assert list(said.values()) == ["allow", "allow", "allow", "ask", "allow", "deny"]
    assert "matrix.write" in flaw_of(document(f"{{name: m, matrix: {{{cells}}}}}")), "a cell may not be left out"


@pytest.mark.parametrize(
    ("when", "says"),
    [
        ("arguments.amount > 5", "amount"),  # missing
        ("arguments.size > 5", "rule can't be decided"),  # a text is no number
        ("arguments.size", "gives str"),
        ("arguments.big + 1 > 0", "rule can't be decided"),
        ("arguments.zero / arguments.zero == 1", "rule can't be decided"),
        ("value.amount > 5", "rule can't be decided"),  # no value was declared
    ],
)
def test_an_error_denies_and_says_which_rule_could_not_be_decided(when: str, says: str) -> None:
    text = document(rule(when, name="shaky"), rule("true", name="all"))
    given = {"size": "large", "big": 9_223_372_036_854_775_807, "zero": 0}
    verdict = decide(text, arguments=given)
    assert (verdict.verdict, verdict.rule) == ("deny", "shaky")
    assert says in verdict.reason


def test_a_rule_before_the_broken_one_still_decides() -> None:
    assert decide(document(rule("true", name="first"), rule("arguments.none == 1", name="broken"))).rule == "first"


def test_1_and_1_0_and_true_and_a_text_are_not_taken_for_each_other() -> None:
    """Also by what is remembered of earlier decisions."""
    ruled = policy.check(document(rule("type(arguments.x) == int && arguments.x == 1"))).ruled
    values: list[Any] = [1, 1.0, True, "1", 1]
    said = [ruled.decide(facts.example({"arguments": {"x": x}})).verdict for x in values]
    assert said == ["allow", "deny", "deny", "deny", "allow"]


def test_data_that_looks_like_an_expression_stays_data() -> None:
    text = document(rule("arguments.to == 'desk'"))
    assert decide(text, arguments={"to": "' || true || '"}).verdict == "deny"
    assert decide(text, arguments={"to": "${ env.TOKEN }"}).verdict == "deny"


@pytest.mark.parametrize(
    "when",
    [
        'matches(arguments.x, "^([a-z]+)+$")',
        'arguments.x.matches("^([a-z]+)+$")',
        'duration("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!") > duration("1s")',
        "(" * 10_000 + "true" + ")" * 10_000,
        "9223372036854775807 + 1 > 0 && secret('A') == ''",
        "[1,2].all(x, [1,2].all(y, [1,2].all(z, x == z)))",
        "true" + " && true" * 400,
    ],
)
def test_an_expression_that_could_run_for_long_is_refused_at_once(when: str) -> None:
    began = time.process_time()
    assert "rules.0.when" in flaw_of(document(rule(when)))
    assert (
        time.process_time() - began < 0.2
    )  # seconds of this process; unlike a clock's they don't grow with others' load


def test_a_condition_over_very_much_denies_instead_of_holding_the_door() -> None:
    text = document(rule("arguments.a.all(x, arguments.b.exists(y, true)) || true"), expect="expect: []")
    assert "comprehension" in flaw_of(text)
    text = document(rule("arguments.a.exists(x, x == arguments.b[0])"))
    verdict = decide(text, arguments={"a": list(range(1000)), "b": ["x" * 200] * 900})
    assert (verdict.verdict, verdict.rule) == ("deny", "r")
    assert "cost too much" in verdict.reason


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("policy: mine\nrules: []", "rules"),
        ("policy: mine", "rules: is missing"),
        ("[]", "must be a map of fields"),
        (document("{name: r, then: allow}"), "rules.0.when: is missing"),
        (document("{name: r, when: 'true'}"), "rules.0.then: is missing"),
        (document(rule("true", "{deny: a, ask: {}}")), "rules.0.then"),
        (document(rule("true", "maybe")), "rules.0.then"),
        (document(rule("true", "{ask: {approvers: [a, b], count: 3}}")), "at most the 2 different logins"),
        (document(rule("true", "{ask: {approvers: [a, a], count: 2}}")), "at most the 1 different logins"),
        (document(rule("true", "{ask: {count: 0}}")), "rules.0.then.ask.count: input should be"),
        (document(rule("true", "{ask: {ttl: forever}}")), "rules.0.then.ask.ttl: must be a duration"),
        (document(rule("true", "pass")), "rules.0.then"),
        (document(rule("true"), rule("true")), "is the name of an earlier rule too"),
        (document(rule("agent.nam == 'x'")), "agent has no nam; it has active"),
        (document(rule("agnet.name == 'x'")), "agnet isn't known here; known: act, agent"),
        (document(rule("true && ")), "rules.0.when"),
        (document(rule("true"), expect="expect: [{verdict: allow, rule: other}]"), "is no rule of this policy"),
        (document("{name: r, when: 'true', then: allow, unless: x}"), "unless: is no field here"),
        ("policy: mine\nrules: &a\n  - {name: r, when: 'true', then: allow}", "anchors and aliases"),
        (f"policy: mine\nrules: {'[' * 12}{']' * 12}", "rules"),
        ("policy: mine\nwhy: " + "x" * 70_000, "at most 65536"),
    ],
)
def test_a_bad_text_is_refused_whole_with_the_field_and_the_line(text: str, says: str) -> None:
    told = flaw_of(text)
    assert says in told
    assert "policy.yaml:" in told or "at most 65536" in told


def test_examples_that_do_not_hold_say_what_the_policy_says_instead() -> None:
    text = document(
        rule("agent.team == 'sales'"),
        expect="expect: [{name: any team, verdict: allow}, {facts: {agnt: 1}, verdict: deny}]",
    )
    told = [str(flaw) for flaw in policy.flaws(policy.check(text))]
    assert "any team: the policy says deny by no-rule" in told[0]
    assert "is no fact; there are act, agent" in told[1]
    assert "is missing" in str(policy.flaws(policy.check(document(rule("true"), expect="")))[0])


def test_each_fact_that_is_named_can_be_asked() -> None:
    """So that a name of the documented list can never deny everything by not being there."""
    for root, names in facts.NAMES.items():
        for name in names or ():
            if root != "value":
                assert decide(document(rule(f"type({root}.{name}) != type(null) || true"))).verdict == "allow", name


def test_the_page_about_policies_names_every_fact_and_its_example_holds() -> None:
    page = (Path(policies.__file__).parents[2] / "docs" / "policies.md").read_text()
    checked = policy.check(page.split("```yaml\n")[1].split("```")[0])
    assert policy.flaws(checked) == []
    told = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", page, re.MULTILINE))
    for name, fields in facts.NAMES.items():
        assert name in told
        if fields and name != "profile":
            assert fields <= set(re.findall(r"`(\w+)`", told[name])), name
    assert set(policy_words()) <= set(re.findall(r"`(\w+)`", page))


def policy_words() -> list[str]:
    """Why an approval can be void; the page tells each."""
    return [word for word in digest.WORDS if word != "other_effect"]

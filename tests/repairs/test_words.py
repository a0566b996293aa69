"""What the console says, for every state, world and reason there is; and the exact words of the common ones."""

from __future__ import annotations

import dataclasses
import datetime as dt
import itertools
import re

import pytest

from repairs.words import marks
from repairs.words.advice import LOOK_AGAIN, next_safe_act, unsafe_acts
from repairs.words.facts import EffectFacts, LookFacts, Reason, SendFacts, Standing, standing
from repairs.words.harm import weigh
from repairs.words.possible import possible
from repairs.words.reasons import CLAUSES, NOTES, TITLES, because
from repairs.words.seen import row
from repairs.words.sentence import sentence
from repairs.words.waits import waits_for
from workflows.policies import again
from workflows.states import CaseState, EffectState, Kind, RunState, StepState, World

NOW = dt.datetime(2026, 3, 10, 14, 0, tzinfo=dt.UTC)
STATEMENT = "A contact record for office@acme.example stands in the CRM."
DISHONEST = re.compile(r"[Rr]oll(ed)?.?back|[Ss]uccess|[Ee]xactly.once|\bNone\b|\{|\}")

EVERYTHING = list(
    itertools.product(Kind, EffectState, World, sorted(CLAUSES), (False, True), (False, True), (None, "late"))
)


def effect(**more: object) -> EffectFacts:
    base: dict[str, object] = {
        "id": "e1", "step": "crm", "tool": "crm.create_contact", "state": "stuck", "world": "unknown",
        "statement": STATEMENT, "owner": "crm-desk", "attempts": 1,
    }  # fmt: skip
    return EffectFacts(**{**base, **more})  # type: ignore[arg-type]


def undoing(**more: object) -> EffectFacts:
    return effect(**{"kind": Kind.COMPENSATION.value, "world": "nothing", **more})


def said(item: EffectFacts, subject: str = "Harper Ltd") -> str:
    return sentence(subject, [Reason(code=item.reason, effect=item.id)], [item])


def every_effect() -> list[EffectFacts]:
    return [
        effect(
            kind=kind, state=state, world=world, reason=reason, can_look=can_look, unwanted=flag,
            customer_visible=flag, keyed=not flag,
            stand_in=flag and kind == Kind.COMPENSATION, can_undo=flag, attempts=0 if late else 2,
            key_until=NOW + dt.timedelta(hours=-1 if late else 1), waits_for=("run 7",) if late else (),
            look=LookFacts(at=NOW, verdict="absent", counted=flag, reached=can_look) if late else None,
            send=None if late else SendFacts(at=NOW, outcome="acknowledged"),
        )
        for kind, state, world, reason, can_look, flag, late in EVERYTHING
    ]  # fmt: skip


def test_every_state_world_and_reason_is_said_in_one_honest_sentence() -> None:
    for item in every_effect():
        text = said(item)
        assert text.startswith("Harper Ltd: "), text
        assert text.endswith("."), text
        assert "\n" not in text
        assert len(text) <= 500
        assert not DISHONEST.search(text), text
        assert ("not known" in text) == (standing(item) is Standing.UNKNOWN), text
        assert ("should be gone" in text) <= (item.undoing or item.unwanted), text


def test_every_state_and_world_says_what_was_wanted_and_seen_and_how_that_is_known() -> None:
    for item in every_effect():
        line = row(item)
        for text in (line.wanted, line.seen, line.how):
            assert text
            assert not DISHONEST.search(text), text
        if line.at is None:
            assert item.state == "undone" or line.how in ("nothing was sent", "no answer was recorded")


def test_what_is_merely_acknowledged_is_never_said_to_be_there() -> None:
    assert row(effect(state="acknowledged")).seen == "not known: the provider said yes, and no look has shown it yet"
    unseen = row(effect(state="acknowledged", verifiable=False)).seen
    assert unseen == "not known: the provider said yes, and its tool has no way to look"
    gone = row(effect(state="undone", world="gone", changed_at=NOW, look=LookFacts(at=NOW, verdict="found")))
    assert (gone.seen, gone.how) == ("gone", "a look at its undoing")
    instead = row(undoing(state="verified", world="present", stand_in=True, look=LookFacts(at=NOW, verdict="found")))
    assert (instead.wanted, instead.how) == ("there, in place of an undoing", "a look found it")
    seen = row(undoing(state="verified", world="present", look=LookFacts(at=NOW, verdict="found")))
    assert (seen.seen, seen.how) == ("gone", "a look found it gone")
    assert row(effect(state="verified", world="present")).seen == "there, ours, as asked"


def test_a_stuck_effect_always_has_a_next_act_and_names_the_unsafe_ones_with_reasons() -> None:
    for item in every_effect():
        act = next_safe_act([item], [Reason(code=item.reason, effect=item.id)])
        assert act.why.endswith("."), act
        assert not DISHONEST.search(act.why), act
        unsafe = unsafe_acts(item, now=NOW)
        assert bool(unsafe) == item.stuck
        for one in unsafe:
            assert one.why.endswith("."), one
            assert not DISHONEST.search(one.why), one
        if item.stuck and act.act == LOOK_AGAIN:
            assert item.can_look, "a look is advised that its tool can't make"
        if item.stuck:
            names = {one.name for one in unsafe}
            offered = {name for _, name, _ in possible(item, now=NOW, going_on=True)}
            assert "Write off" in names
            assert ("Send again" in names) != ("Send again" in offered), "it is safe or it isn't, never both or neither"
            assert all(does.endswith(".") for _, _, does in possible(item, now=NOW, going_on=True))
            assert item.undoing or "Undo" in {one.name for one in unsafe}


def test_every_reason_has_a_title_and_a_clause_for_both_directions() -> None:
    assert set(CLAUSES) <= set(TITLES)
    assert because("something_new") == "the engine's reason is 'something_new'"
    assert not set(NOTES) & set(CLAUSES) - {"not_sent"}


def test_what_is_gone_is_not_said_to_be_there_and_what_was_reversed_is_not_sent_under_its_old_key() -> None:
    known = {"acknowledged": False, "protected": True}
    assert "is gone" in again.why_not(world="gone", reason="gone", undoing=False, **known)
    assert "under a new key" in again.why_not(world="nothing", reason="reversed", undoing=True, **known)


def test_every_state_word_has_a_mark_with_a_shape_and_a_hint() -> None:
    words = [("effect", EffectState), ("world", World), ("run", RunState), ("case", CaseState), ("step", StepState)]
    for kind, states in words:
        for state in states:
            assert marks.mark(kind, state).hint, f"{kind} {state}"
    assert marks.mark("effect", "invented").word == "invented"


THING = "a contact record for office@acme.example stands in the CRM"
SENTENCES = {
    undoing(reason="refused"): "{}, although it should be gone; the provider refused for good to undo it.",
    undoing(reason="limits"): "{}, although it should be gone; every try to undo it that is allowed was used up.",
    undoing(reason="window"): "{}, although it should be gone; the time in which it may be undone is over.",
    undoing(reason="policy"): "{}, although it should be gone; policy does not allow it to be undone.",
    undoing(reason="not_undone"): (
        "{}, although it should be gone; the provider said that it was undone, but no look finds that."
    ),
    undoing(reason="seen_absent"): (
        "{}, although it should be gone; a look that a person asked for shows that it was not undone."
    ),
    undoing(reason="unreachable", world="unknown"): (
        "it should be gone, and it is not known whether it is: {}; the system that would know whether it was undone"
        " could not be reached."
    ),
    undoing(reason="differs", world="differs"): (
        "something is there in place of what should be gone: {}; a look found something that isn't ours, or isn't as we"
        " left it."
    ),
    effect(reason="cannot_know"): (
        "it is not known whether this is so: {}; nobody can know what a send without an answer did, "
        "and nothing would keep a second one from doing it twice."
    ),
    effect(reason="not_found", world="nothing"): (
        "what crm.create_contact (step crm) was to do was not done; the provider said yes, but no look finds it."
    ),
    effect(reason="several", world="several"): (
        "more than one is there where one was asked for: {}; a look found more than one."
    ),
    effect(reason="already_there", world="differs", attempts=0): (
        "something is there, but not what was asked for: {}; it stood there before we sent anything, and does not carry"
        " our mark."
    ),
    effect(reason="no_compensation", state="verified", world="present", unwanted=True): (
        "{}, although it should be gone; its tool declares no way to undo it."
    ),
}


@pytest.mark.parametrize(("item", "text"), SENTENCES.items(), ids=lambda v: getattr(v, "reason", ""))
def test_the_sentence_of_a_common_case_is_exactly_this(item: EffectFacts, text: str) -> None:
    assert said(item) == "Harper Ltd: " + text.replace("{}", THING)


def test_a_held_run_says_where_it_stopped_and_how_much_stands() -> None:
    done = [effect(id="a", state="verified", world="present"), effect(id="b", state="acknowledged", world="unknown")]
    text = sentence("Harper Ltd", [Reason(code="hold", step="mail", detail="step mail failed: 550")], done)
    assert text == (
        "Harper Ltd: the work stopped half way at step mail, and 1 of its effects stands and of 1 it is not known"
        " whether it does; a step failed, and this workflow is told to stop there."
    )


def test_a_run_that_a_person_stopped_is_said_to_have_failed() -> None:
    text = sentence("Harper Ltd", [Reason(code="hold", detail="the customer asked for it")], [])
    assert text == (
        "Harper Ltd: the work stopped half way, and none of its effects stands; it stays as it is until people decide."
    )


def test_the_worst_effect_leads_the_sentence_and_the_others_are_counted() -> None:
    known = undoing(id="a", reason="refused")
    doubt = effect(id="b", reason="cannot_know")
    reasons = [Reason(code="refused", effect="a"), Reason(code="cannot_know", effect="b")]
    text = sentence("Harper Ltd", reasons, [known, doubt])
    assert "not known" in text
    assert text.endswith("; 1 more effect needs a person.")


def test_hostile_text_in_a_sentence_is_bounded_and_its_hidden_characters_are_shown() -> None:
    text = said(effect(reason="refused", world="present", statement="pay \u202e001\u202c EUR " + "x" * 9000))
    assert "[U+202E]001[U+202C]" in text
    assert len(text) <= 500


def test_the_queue_puts_doubt_that_customers_see_before_what_merely_stands() -> None:
    def rank(item: EffectFacts) -> int:
        return weigh([Reason(code=item.reason, effect=item.id)], [item], now=NOW).rank

    ranks = [
        rank(effect(reason="cannot_know", customer_visible=True)),
        rank(effect(reason="cannot_know")),
        rank(undoing(reason="refused", customer_visible=True)),
        rank(undoing(reason="refused")),
        rank(effect(reason="not_found", world="nothing")),
    ]
    assert ranks == sorted(set(ranks))


def test_a_cutoff_is_the_nearest_moment_ahead_and_never_a_past_one() -> None:
    soon, gone = NOW + dt.timedelta(minutes=40), NOW - dt.timedelta(minutes=1)
    doubt = effect(reason="key_expired", keyed=True, key_until=soon)
    weight = weigh([Reason(code="x", effect="e1")], [doubt], now=NOW)
    assert (weight.cutoff, weight.cutoff_reason) == (soon, "then the provider forgets our key")
    past = dataclasses.replace(doubt, key_until=gone)
    assert weigh([Reason(code="x", effect="e1")], [past], now=NOW).cutoff is None


def test_money_out_of_place_is_never_added_across_currencies() -> None:
    items = [
        effect(id="a", world="present", value=(100, "EUR")),
        effect(id="b", world="unknown", value=(250, "EUR")),
        effect(id="c", world="present", value=(7, "JPY")),
        effect(id="d", world="nothing", value=(999, "EUR")),
    ]
    weight = weigh([Reason(code="hold", effect=item.id) for item in items], items, now=NOW)
    assert weight.value == [{"amount": 350, "currency": "EUR"}, {"amount": 7, "currency": "JPY"}]


def test_what_waits_for_a_step_of_its_run_says_not_which() -> None:
    assert waits_for({"step": "crm"}) == "step crm, which it builds upon, needs a person"

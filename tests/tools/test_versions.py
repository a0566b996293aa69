"""Versions tell whether a look saw the state after our write: numbers and moments are ordered, tags only equal."""

from __future__ import annotations

import pytest

from workflows.outcomes import Sighting, Verdict
from workflows.tools.versions import compared, weighed


@pytest.mark.parametrize(
    ("one", "other", "order"),
    [
        (6, 7, -1),
        ("10", 9, 1),
        ("2026-03-01T10:00:00Z", "2026-03-01T12:00:00+02:00", 0),
        ("2026-03-01T10:00:01Z", "2026-03-01T10:00:00Z", 1),
        ('"a"', '"a"', 0),
        ('"a"', '"b"', None),
        ("2026-03-01T10:00:00", "2026-03-01T10:00:00Z", None),
    ],
)
def test_only_what_has_an_order_is_ordered(one: object, other: object, order: int | None) -> None:
    assert compared(one, other) == order


def test_a_difference_under_another_tag_is_not_taken_for_the_state_after_ours() -> None:
    seen = Sighting(verdict=Verdict.DIFFERS, reason="status 200")
    assert weighed(seen, '"b"', '"a"', undoing=False).verdict is Verdict.INCONCLUSIVE
    assert weighed(seen, '"a"', '"a"', undoing=False).verdict is Verdict.DIFFERS


def test_an_undoing_is_proved_by_a_newer_version_than_the_act_only() -> None:
    seen = Sighting(verdict=Verdict.FOUND, reason="status 200")
    assert [weighed(seen, version, 7, undoing=True).verdict.value for version in (6, 7, 8)] == [
        "inconclusive",
        "inconclusive",
        "found",
    ]

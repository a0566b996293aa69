"""Moments that persons write: what the database would keep and nobody could read again is refused."""

from __future__ import annotations

import datetime as dt

import pytest

from repairs.acts.policy import moment
from workflows.authority.until import until_of
from workflows.errors import Invalid

NOW = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)


@pytest.mark.parametrize("text", ["9999-12-31T23:59-14:00", "0001-01-01T00:00+14:00"])
def test_a_moment_that_leaves_the_calendar_in_utc_is_refused(text: str) -> None:
    """A stop or a policy with such a time could be written, and then no dispatch and no page could read it."""
    with pytest.raises(Invalid) as of_stop:
        until_of(text, NOW)
    with pytest.raises(Invalid) as of_policy:
        moment(text)
    assert [flaw.path for flaw in (*of_stop.value.flaws, *of_policy.value.flaws)] == ["until", "at"]


def test_a_moment_is_read_in_utc() -> None:
    assert until_of("2026-03-02T08:00+01:00", NOW) == dt.datetime(2026, 3, 2, 7, tzinfo=dt.UTC)
    assert until_of("2h", NOW) == NOW + dt.timedelta(hours=2)

"""Retry-After in the forms that providers have sent."""

from __future__ import annotations

import datetime as dt

import pytest

from workflows.tools.retry_after import seconds

NOW = dt.datetime(2026, 3, 10, 12, 0, 0, tzinfo=dt.UTC)
FAST = "Tue, 10 Mar 2026 12:10:00 GMT"  # a provider whose clock is ten minutes ahead


@pytest.mark.parametrize(
    ("header", "date", "wanted"),
    [
        (None, None, None),
        ("", None, None),
        ("0", None, 0.0),
        ("5", None, 5.0),
        (" 5 ", None, 5.0),
        ("1.5", None, 2.0),
        ("0.249", None, 1.0),
        ("-3", None, None),
        ("+3", None, None),
        ("1e3", None, None),
        ("soon", None, None),
        ("5, 10", None, None),
        ("99999999", None, 600.0),
        ("1773144000", None, 600.0),  # seconds since 1970: the cap, not half a century
        ("Wed, 21 Oct 2015 07:28:00 GMT", None, 0.0),
        ("Tue, 10 Mar 2026 12:00:40 GMT", None, 40.0),
        ("Tue, 10 Mar 2026 12:10:40 GMT", FAST, 40.0),
        ("Tue, 10 Mar 2026 12:10:40 GMT", "nonsense", 600.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", None, 600.0),
        ("Tue, 99 Mar 2026 12:10:40 GMT", None, None),
        ("five seconds", None, None),
        ("٥", None, None),
    ],
)
def test_a_wait_is_read_or_ignored_but_never_guessed(
    header: str | None, date: str | None, wanted: float | None
) -> None:
    assert seconds(header, date, most=600.0, now=NOW) == wanted

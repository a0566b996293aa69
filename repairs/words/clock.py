"""In which zone the person who looks sees times: one request's, see `repairs.zone`; everywhere else UTC. Pure."""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import zoneinfo
from collections.abc import Iterator
from contextvars import ContextVar

UTC = "UTC"
_name: ContextVar[str] = ContextVar("zone", default=UTC)


@contextlib.contextmanager
def only_here() -> Iterator[None]:
    """Whatever zone is used meanwhile, afterwards it is as before: a thread answers many people, and agents."""
    token = _name.set(UTC)
    try:
        yield
    finally:
        _name.reset(token)


def use(name: str) -> None:
    """From here on times are those of this zone. One that is unknown, by now or here, counts as UTC."""
    _name.set(name if known(name) else UTC)


def known(name: str) -> bool:
    try:
        return bool(zoneinfo.ZoneInfo(name))
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False


@functools.cache
def names() -> list[str]:
    """Of the zones that places have. Read once: it is a walk through the disk."""
    places = (name for name in zoneinfo.available_timezones() if "/" in name and not name.startswith("Etc/"))
    return [UTC, *sorted(places)]


def zone() -> str:
    return _name.get()


def local(moment: dt.datetime) -> dt.datetime:
    """There; at both ends of time, where a zone has no date for it, as it is."""
    try:
        return moment.astimezone(zoneinfo.ZoneInfo(_name.get()))
    except OverflowError:
        return moment


def said(moment: dt.datetime, form: str = "%Y-%m-%d %H:%M") -> str:
    """A moment in a sentence, with its zone: such a text may be read by others later."""
    return f"{local(moment):{form}} {_name.get()}"


def twice(moment: dt.datetime) -> bool:
    """Whether its hour is there twice, at the end of summer time: the clock alone doesn't say which is meant."""
    here = local(moment)
    other = here.replace(fold=1 - here.fold)
    return here.utcoffset() != other.utcoffset()


def day(moment: dt.datetime) -> tuple[dt.datetime, dt.datetime]:
    """Begin and end of that moment's day there, half open: 23 or 25 hours where the clock is changed."""
    here = local(moment)
    begin = dt.datetime(here.year, here.month, here.day, tzinfo=here.tzinfo)
    after = here.date() + dt.timedelta(days=1)
    end = dt.datetime(after.year, after.month, after.day, tzinfo=here.tzinfo)
    return begin.astimezone(dt.UTC), end.astimezone(dt.UTC)

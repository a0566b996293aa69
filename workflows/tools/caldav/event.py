"""The event of one call as iCalendar, and the comparison of what a calendar holds with what was asked."""

from __future__ import annotations

import dataclasses
import datetime as dt
from typing import TYPE_CHECKING, Any

import icalendar

from workflows.tools import addresses
from workflows.tools.caldav.moments import moment
from workflows.tools.expressions import ExpressionError, fill, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_ATTENDEES = 50


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What was asked for, as a calendar can hold it."""

    uid: str
    summary: str
    start: dt.datetime
    end: dt.datetime
    attendees: frozenset[str]
    location: str
    description: str


def asked(part: Mapping[str, Any], names: Mapping[str, Any], uid: str) -> Event:
    """The event that `execute` declares. Raises `ExpressionError` for whatever no calendar can hold."""
    wanted = ("summary", "start", "end", "attendees", "location", "description")
    told = {name: fill(part.get(name), names, name) for name in wanted}
    start = moment("start", text_of(told["start"]["time"]), text_of(told["start"]["zone"]))
    end = moment("end", text_of(told["end"]["time"]), text_of(told["end"]["zone"]))
    if end <= start:
        raise ExpressionError("end.time", end.isoformat(), f"must be after the start, {start.isoformat()}")
    given = told["attendees"] or []
    attendees = given if isinstance(given, list) else [given]
    if len(attendees) > MOST_ATTENDEES:
        raise ExpressionError("attendees", f"{len(attendees)}", f"are more than {MOST_ATTENDEES}")
    return Event(
        uid=uid,
        summary=text_of(told["summary"]),
        start=start,
        end=end,
        attendees=frozenset(addresses.plain("attendees", text_of(one).strip()).lower() for one in attendees),
        location=text_of(told["location"] or ""),
        description=text_of(told["description"] or ""),
    )


def written(event: Event, *, stamp: dt.datetime) -> bytes:
    """iCalendar with its time zones, so that the wall time stays what was agreed when rules change."""
    calendar = icalendar.Calendar()
    calendar.add("prodid", "-//makegood//EN")
    calendar.add("version", "2.0")
    entry = icalendar.Event()
    entry.add("uid", event.uid)
    entry.add("dtstamp", stamp)
    entry.add("summary", event.summary)
    entry.add("dtstart", event.start)
    entry.add("dtend", event.end)
    for address in sorted(event.attendees):
        entry.add("attendee", icalendar.vCalAddress(f"mailto:{address}"))
    if event.location:
        entry.add("location", event.location)
    if event.description:
        entry.add("description", event.description)
    calendar.add_component(entry)
    calendar.add_missing_timezones()
    data: bytes = calendar.to_ical()
    return data


def differences(event: Event, data: bytes) -> list[str]:
    """How the calendar's text differs from what was asked; empty where it is ours. `ValueError`: unreadable."""
    try:
        calendar = icalendar.Calendar.from_ical(data.decode("utf-8"))
        entries = list(calendar.walk("VEVENT"))
        if len(entries) != 1:
            return [f"{len(entries)} events under one address"]
        return _compared(event, entries[0])
    except Exception as error:  # a parser given foreign text fails in its own ways
        raise ValueError(f"{type(error).__name__}: {error}") from None


def _compared(event: Event, entry: Any) -> list[str]:
    found = entry.get("attendee", [])
    people = found if isinstance(found, list) else [found]
    seen = {
        "uid": str(entry.get("uid", "")),
        "summary": str(entry.get("summary", "")),
        "start": _instant(entry, "dtstart"),
        "end": _instant(entry, "dtend"),
        "zones": (_zone(entry, "dtstart"), _zone(entry, "dtend")),
        "attendees": sorted(str(one).lower().removeprefix("mailto:") for one in people),
        "location": str(entry.get("location", "")),
        "status": str(entry.get("status", "CONFIRMED")).upper(),
        "repeats": "rrule" in entry or "rdate" in entry,
    }
    wanted = {
        "uid": event.uid,
        "summary": event.summary,
        "start": event.start.astimezone(dt.UTC),
        "end": event.end.astimezone(dt.UTC),
        "zones": (str(event.start.tzinfo), str(event.end.tzinfo)),
        "attendees": sorted(event.attendees),
        "location": event.location,
        "status": "TENTATIVE" if seen["status"] == "TENTATIVE" else "CONFIRMED",
        "repeats": False,
    }
    return [f"{name} is {seen[name]}, not {wanted[name]}" for name in wanted if not _same(seen[name], wanted[name])]


def _instant(entry: Any, name: str) -> dt.datetime | None:
    value = entry[name].dt if name in entry else None
    return value.astimezone(dt.UTC) if isinstance(value, dt.datetime) and value.tzinfo is not None else None


def _zone(entry: Any, name: str) -> str:
    """The zone that the calendar keeps the wall time in; some put their own prefix before the IANA name."""
    value = entry.get(name)
    told = str(value.params.get("TZID", "UTC")) if value is not None else ""
    return "/".join(told.split("/")[-2:]) if told.startswith("/") else told


def _same(seen: Any, wanted: Any) -> bool:
    """Calendars fold blanks and line ends of texts; times, people and identity must agree exactly."""
    if isinstance(seen, str) and isinstance(wanted, str):
        return seen.split() == wanted.split()
    return bool(seen == wanted)

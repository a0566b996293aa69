"""C29: a meeting is a wall-clock time in a zone; its instant and its zone are what is compared."""

from __future__ import annotations

from typing import Any

import pytest

from tests.blackbox import manifests
from tests.blackbox.conftest import Story
from workflows.models import Effect
from workflows.tools import expressions

MEETING = (
    "{type: object, required: [email, start, zone], additionalProperties: false,"
    " properties: {email: {type: string}, start: {type: string}, zone: {type: string}}}"
)
VERIFY = """
    verify:
      url: "${ env.WORLD_URL }/@collection@?reference=${ key }"
      differs: >-
        size(body.items) == 1 && (body.items[0].zone != args.zone ||
        timestamp(body.items[0].start) != timestamp(instant(args.start, args.zone)))
      found: "size(body.items) == 1"
      absent: "size(body.items) == 0"
      result: {id: "${ body.items[0].id }"}
"""
JSON = '{start: "${ instant(args.start, args.zone) }", zone: "${ args.zone }", reference: "${ key }"}'


def ask(story: Story, start: str, zone: str) -> tuple[int, Any, str]:
    meeting = manifests.tool("calendar.meet", "meetings", arguments=MEETING, verify=VERIFY, json=JSON)
    story.apply(manifests.manifest([meeting]))
    run = story.agent.start(None, open=True)
    arguments = {"email": "office@acme.example", "start": start, "zone": zone}
    body = {"name": "meet", "tool": "calendar.meet", "arguments": arguments}
    return *story.agent.post(f"runs/{run}/steps", body), run


@pytest.mark.parametrize(
    ("start", "zone", "becomes"),
    [
        ("2026-11-03T14:00:00Z", "America/New_York", "verified present"),
        ("2026-11-03T09:00:00-05:00", "America/New_York", "verified present"),
        ("2026-11-03T13:00:00Z", "America/New_York", "stuck differs"),
        ("2026-11-03T14:00:00Z", "Etc/GMT+5", "stuck differs"),
    ],
    ids=["the instant", "the same instant in other words", "an hour early", "the instant, but another zone"],
)
def test_the_instant_and_the_zone_are_compared_and_not_the_text(
    story: Story, start: str, zone: str, becomes: str
) -> None:
    book = story.world.book
    write = book.write
    kept = {"start": start, "zone": zone}
    book.write = lambda thing, body: write(thing, body and {**body, **kept})  # type: ignore[method-assign]
    status, _, run = ask(story, "2026-11-03T09:00", "America/New_York")
    story.settle()
    effect = Effect.objects.get(run_id=run)
    assert (status, f"{effect.state} {effect.world}") == (202, becomes)
    assert story.world.wire("POST")[0].body["start"] == "2026-11-03T14:00:00Z"


@pytest.mark.parametrize(
    ("start", "zone", "path", "says"),
    [
        ("2026-03-29T02:30", "Europe/Berlin", "arguments.start", "doesn't exist"),
        ("2026-10-25T02:30", "Europe/Berlin", "arguments.start", "stands twice"),
        ("2026-10-25T12:30", "UTC+01:00", "arguments.start", "no IANA time zone"),
        ("2026-10-25T12:30Z", "Europe/Berlin", "arguments.start", "without an offset"),
    ],
    ids=["skipped", "doubled", "no zone but an offset", "an instant"],
)
def test_a_time_that_nobody_can_book_without_guessing_is_refused_when_it_is_asked(
    story: Story, start: str, zone: str, path: str, says: str
) -> None:
    status, problem, _ = ask(story, start, zone)
    assert (status, problem["errors"][0]["path"]) == (400, path)
    assert says in problem["errors"][0]["message"]
    assert (Effect.objects.count(), story.world.wire()) == (0, [])


def test_a_weekly_series_keeps_its_wall_time_over_both_changes_of_the_clocks() -> None:
    """The two places change their clocks on different days; each occurrence is its own instant."""
    weeks = ["2026-10-20T09:00", "2026-10-27T09:00", "2026-11-03T09:00"]
    instants = [told("instant(x, 'America/New_York')", week) for week in weeks]
    assert instants == ["2026-10-20T13:00:00Z", "2026-10-27T13:00:00Z", "2026-11-03T14:00:00Z"]
    walls = [told("wall(x, 'Europe/Berlin')", instant) for instant in instants]
    assert walls == ["2026-10-20T15:00:00", "2026-10-27T14:00:00", "2026-11-03T15:00:00"]


def told(source: str, x: str) -> Any:
    return expressions.compile(source, ("x",)).run({"x": x})

"""Teams: a tree without circles; who belongs to one sees what is below it, who belongs to none sees all."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import IntegrityError
from django.test import RequestFactory

from repairs.desk import desk_of
from repairs.models import Person
from workflows.models import Team

pytestmark = pytest.mark.django_db
Make = Callable[..., Any]


def team(*arguments: str) -> Any:
    out = io.StringIO()
    call_command("team", *arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


def seen(*teams: str) -> Any:
    """The teams whose work a person in these teams sees."""
    user = User.objects.create_user("-".join(teams) or "nobody", is_staff=True)
    Person.objects.create(user=user).teams.set(Team.objects.filter(name__in=teams))
    request = RequestFactory().get("/")
    request.user = user
    desk = desk_of(request)
    assert desk is not None
    return desk.teams


def test_a_team_sees_what_is_below_it_and_nothing_beside_or_above() -> None:
    team("sales")
    team("inside", "--under", "sales")
    team("night", "--under", "inside")
    team("billing")
    assert seen("sales") == {"sales", "inside", "night"}
    assert seen("night", "billing") == {"night", "billing"}
    assert seen() is None, "who belongs to none sees all"


@pytest.mark.parametrize("parent", ["sales", "inside", "night"])
def test_a_team_under_itself_is_refused_and_the_circle_is_named(parent: str) -> None:
    team("sales")
    team("inside", "--under", "sales")
    team("night", "--under", "inside")
    with pytest.raises(CommandError, match=r"circle: sales under .*sales"):
        team("sales", "--under", parent)
    assert Team.objects.get(name="sales").parent is None


def test_a_circle_that_was_written_past_us_ends_all_the_same() -> None:
    one, other = Team.objects.create(name="one"), Team.objects.create(name="other")
    Team.objects.filter(id=one.id).update(parent=other)
    Team.objects.filter(id=other.id).update(parent=one)
    assert seen("one") == {"one", "other"}
    with pytest.raises(IntegrityError, match="team_is_not_above_itself"):
        Team.objects.filter(id=one.id).update(parent=one)


def test_a_team_is_moved_to_the_top_and_its_people_with_it(person: Make) -> None:
    person("night-desk", "repairer")
    team("sales")
    team("night", "--under", "sales", "--add", "night-desk")
    told = team("night", "--top")
    assert told == {"team": "night", "under": "", "people": ["night-desk"], "agents": []}
    assert team("night", "--remove", "night-desk")["people"] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["night", "--under", "nowhere"],
        ["night", "--add", "nobody"],
        ["night", "--remove", "nobody"],
        [" night"],
        ["a\x1bb"],
        ["x" * 101],
        ["night", "--top", "--under", "operations"],
    ],
)
def test_a_wrong_team_is_not_made(arguments: list[str]) -> None:
    with pytest.raises(CommandError):
        team(*arguments)
    assert [one.name for one in Team.objects.all()] == ["operations"]


def test_a_person_is_made_in_teams_that_exist_or_not_at_all() -> None:
    with pytest.raises(CommandError, match=r"isn't a team.*'nigth'"):
        call_command("create_person", "ray", "--roles", "repairer", "--teams", "nigth", stdout=io.StringIO())
    assert not User.objects.exists()
    call_command("create_person", "ray", "--roles", "repairer", "--teams", "operations", stdout=io.StringIO())
    assert [one.name for one in Person.objects.get().teams.all()] == ["operations"]

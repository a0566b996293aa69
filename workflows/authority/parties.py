"""Which persons stand behind an act: for whom it is done, through agents that act for each other."""

from __future__ import annotations

from collections.abc import Iterable

from workflows.models import Agent

PERSON, SYSTEM = "person:", "system:"


def persons_behind(parties: Iterable[str]) -> set[str]:
    """Their logins in small letters, for who writes "person:Day" means the login "day".

    However long the chain is: were its end not found, the person there could approve their own request."""
    found: set[str] = set()
    seen: set[str] = set()
    waiting = set(parties)
    while waiting:
        found |= {who.removeprefix(PERSON).casefold() for who in waiting if who.startswith(PERSON)}
        systems = {who.removeprefix(SYSTEM) for who in waiting if who.startswith(SYSTEM)} - seen
        seen |= systems
        agents = Agent.objects.filter(name__in=systems)
        waiting = set(agents.values_list("on_behalf_of", flat=True)) if systems else set()
    return found

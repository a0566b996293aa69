"""What stands before the first run of the loaded ledger: tools, workflows, teams, agents and people."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from pathlib import Path
from typing import Any

from django.contrib.auth.models import Group, User
from django.utils import timezone

from repairs.models import Person
from workflows import catalog
from workflows.models import Agent, Budget, Stop, Team
from workflows.tools.manifest import load

TOOLS = ("crm.contact", "list.member", "calendar.booking", "mail.send", "pay.charge", "files.share", "chat.post")
FINAL = ("mail.send", "chat.post")  # can't be undone, and nobody can look at them
WORKFLOWS, STEPS = 6, ("one", "two", "three", "four", "five")
TEAMS = ("sales", "care", "billing", "events", "small")  # the last one has a single agent with a handful of runs
AGENTS = 41  # the last one is the small team's
PEOPLE = 30


@dataclasses.dataclass(frozen=True, slots=True)
class Viewer:
    """Somebody for whom pages are measured: who sees all, one large team's, one tiny team's."""

    login: str
    teams: tuple[str, ...]
    roles: tuple[str, ...]


VIEWERS = (
    Viewer("sees-all", (), ("repairer", "approver", "operator", "author")),
    Viewer("sees-sales", ("sales",), ("repairer", "approver")),
    Viewer("sees-small", ("small",), ("repairer",)),
    Viewer("auditor", (), ("auditor",)),  # only they and admins see the page of people
)


def declare() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "manifest.json"
        path.write_text(json.dumps(manifest()))
        catalog.apply(load([str(path)], known_tools={}, env_names=(), declared={}))
    Team.objects.bulk_create(Team(name=name) for name in TEAMS)
    Agent.objects.bulk_create(agent(number) for number in range(AGENTS))
    Stop.objects.create(
        target="tool", name="chat.post", reason="more than 3 % unknown", second_person=False, frozen_by="engine",
        frozen_at=timezone.now(),
    )  # fmt: skip
    Budget.objects.bulk_create(
        Budget(owner=f"agent:agent-{number}", per="day", limits={"calls": 100_000}, created_at=timezone.now())
        for number in range(AGENTS)
    )
    User.objects.bulk_create(User(username=f"desk-{number}", is_staff=True) for number in range(PEOPLE))
    for viewer in VIEWERS:
        user = User.objects.create(username=viewer.login, is_staff=True)
        user.groups.set(Group.objects.filter(name__in=viewer.roles))
        Person.objects.create(user=user).teams.set(Team.objects.filter(name__in=viewer.teams))


def manifest() -> dict[str, Any]:
    return {
        "tools": {name: tool(name) for name in TOOLS},
        "workflows": {f"flow-{number}": workflow(number) for number in range(WORKFLOWS)},
    }


def tool(name: str) -> dict[str, Any]:
    final = name in FINAL
    spec: dict[str, Any] = {
        "version": 1,
        "kind": "python",
        "class": "benchmarks.noop.NoOp",
        "profile": {
            "effect_class": "irreversible" if final else "reversible",
            "access": "write",
            "environment": "trusted",
            "observability": "none" if final else "authoritative_read",
            "autonomy": "auto",
            "privileges": [],
            "owner": f"{TEAMS[TOOLS.index(name) % 4]}",
            "customer_visible": final,
            "residue": f"What {name} made stands outside.",
        },
        "idempotency": {"by": "native_key", "retention": "24h"},
        "arguments": {"type": "object"},
        "limits": {"concurrent": 8, "per_minute": 600},
        "execute": {"timeout": "5s"},
    }
    return spec if final else {**spec, "verify": {"settle": "1s"}, "compensate": {"verify": {}}}


def workflow(number: int) -> dict[str, Any]:
    steps = [
        {"name": name, "tool": TOOLS[(number + place) % len(TOOLS)], "arguments": {"who": "${ input.who }"}}
        for place, name in enumerate(STEPS)
    ]
    return {"version": 1, "owner": TEAMS[number % 4], "input": {"type": "object"}, "steps": steps}


def agent(number: int) -> Agent:
    team = "small" if number == AGENTS - 1 else TEAMS[number % 4]
    return Agent(name=f"agent-{number}", team=team, tools=["*"], workflows=["*"])

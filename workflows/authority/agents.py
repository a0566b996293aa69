"""Makes agents and changes what they may do and for whom. Whatever is wrong is said at once, and nothing is written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from workflows.authority.acts import record
from workflows.authority.keys import make_key, prefix_of, wake_waiters
from workflows.authority.parties import PERSON
from workflows.errors import Flaw, Invalid
from workflows.marked import _
from workflows.models import Agent, Team, Tool, Workflow
from workflows.models.agent import ALL, ANY
from workflows.models.team import DEFAULT

LONGEST_NAME, LONGEST_PURPOSE = 100, 500  # characters; their columns hold no more
PARTY = re.compile(r"(person|system):\S(.*\S)?")


def create(
    name: str,
    *,
    tools: Iterable[str] = (),
    workflows: Iterable[str] = (),
    grants: Sequence[str] = (),
    team: str = DEFAULT,
    purpose: str = "",
    on_behalf_of: str = "",
    by: str = "command",
) -> tuple[Agent, str]:
    """The agent and its first key's text. `grants`: "TOOL=right,right", which grants the tool so far and no farther.

    Raises Invalid, having written nothing."""
    names, narrowed, flaws = _granted(tools, grants)
    flaws = [
        *_flaws_of("NAME", name, LONGEST_NAME),
        *_flaws_of("--team", team, LONGEST_NAME),
        *(_flaws_of("--purpose", purpose, LONGEST_PURPOSE) if purpose else ()),
        *_flaws_of_party(on_behalf_of),
        *flaws,
        *_unknown_workflows(workflows),
    ]
    if flaws:
        raise Invalid("No agent was made.", flaws)
    try:
        with transaction.atomic():
            Team.objects.get_or_create(name=team)
            agent = Agent.objects.create(
                name=name,
                team=team,
                purpose=purpose,
                tools=names,
                workflows=sorted(set(workflows)),
                narrowed=narrowed,
                on_behalf_of=on_behalf_of,
            )
            key = make_key(agent)
            record(agent, "create", by=by, key=prefix_of(key), **_facts(agent))
            return agent, key
    except IntegrityError as error:
        flaw = Flaw("NAME", name, "is taken: choose another name; an agent's key can't be shown a second time")
        raise Invalid("No agent was made.", [flaw]) from error


def change(agent: Agent, *, by: str, why: str, grants: Sequence[str] = (), **wanted: Any) -> list[str]:
    """Changes what is given of tools, workflows, team, purpose, on_behalf_of and active; returns the names of what
    differs now. `tools` says anew what is granted, `grants` alone add to it or narrow it. Raises Invalid.

    Running effects are judged by it from their next dispatch on."""
    names, narrowed, flaws = _granted(wanted.get("tools", ()), grants)
    if "team" in wanted:
        flaws += _flaws_of("--team", wanted["team"], LONGEST_NAME)
    if wanted.get("purpose"):
        flaws += _flaws_of("--purpose", wanted["purpose"], LONGEST_PURPOSE)
    flaws += [*_flaws_of_party(wanted.get("on_behalf_of", "")), *_unknown_workflows(wanted.get("workflows", ()))]
    if flaws:
        raise Invalid(_("Nothing was changed."), flaws)
    with transaction.atomic():
        # What is added to is read under the lock: a tool that somebody takes away meanwhile must not come back.
        agent = Agent.objects.select_for_update().get(id=agent.id)
        before = _facts(agent)
        if "tools" not in wanted:
            had = {name: list(agent.rights(name)) for name in agent.tools}
            names = sorted({*had, *names})
            narrowed = _narrowed(names, {**had, **narrowed})
        wanted |= {"tools": names, "narrowed": narrowed}
        if "team" in wanted:
            Team.objects.get_or_create(name=wanted["team"])
        for field, value in wanted.items():
            setattr(agent, field, value)
        changed = [field for field, value in _facts(agent).items() if value != before[field]]
        if "active" in changed:
            wake_waiters()
        if changed:
            agent.save(update_fields=changed)
            record(agent, "change", by=by, why=why, **{f: {"was": before[f], "is": _facts(agent)[f]} for f in changed})
    return changed


def _facts(agent: Agent) -> dict[str, Any]:
    names = ("tools", "narrowed", "workflows", "team", "purpose", "on_behalf_of", "active")
    return {name: getattr(agent, name) for name in names}


def _granted(tools: Iterable[str], grants: Sequence[str]) -> tuple[list[str], dict[str, list[str]], list[Flaw]]:
    """(names of tools, those narrowed to some rights, what is wrong)."""
    narrowed: dict[str, list[str]] = {}
    flaws = []
    for grant in grants:
        name, _, words = grant.partition("=")
        rights = sorted(set(words.split(",")), key=lambda r: ALL.index(r) if r in ALL else -1)
        if not name or not words or not set(rights) <= set(ALL):
            flaws.append(Flaw("--grant", grant, f"must be TOOL=RIGHT,… with rights of: {', '.join(ALL)}"))
        elif name in narrowed:
            flaws.append(Flaw("--grant", grant, "names a tool a second time"))
        else:
            narrowed[name] = rights
    names = sorted({*tools, *narrowed})
    known = set(Tool.objects.filter(current=True, name__in=names).values_list("name", flat=True))
    flaws += _unknown("--tools", [name for name in names if name not in narrowed], known)
    flaws += _unknown("--grant", list(narrowed), known)
    return names, _narrowed(names, narrowed), flaws


def _narrowed(names: list[str], rights: dict[str, list[str]]) -> dict[str, list[str]]:
    """Only what differs from the grant that would count without an entry: that of "*", or all four."""
    usual = rights.get(ANY, list(ALL)) if ANY in names else list(ALL)
    own = {name: rights.get(name, list(ALL)) for name in names if name != ANY}
    found = {name: some for name, some in own.items() if some != usual}
    return found if usual == list(ALL) else {ANY: usual, **found}


def _unknown_workflows(names: Iterable[str]) -> list[Flaw]:
    known = set(Workflow.objects.filter(current=True, name__in=list(names)).values_list("name", flat=True))
    return _unknown("--workflows", names, known)


def _unknown(option: str, names: Iterable[str], known: set[str]) -> list[Flaw]:
    """A misspelt grant would show only when the agent is refused, far from here."""
    way_out = "isn't applied: run manage.py apply first, or grant '*', which includes what is applied later"
    return [Flaw(option, name, way_out) for name in names if name != ANY and name not in known]


def _flaws_of(path: str, text: str, most: int) -> list[Flaw]:
    if text.strip() == text and 0 < len(text) <= most and text.isprintable():
        return []
    return [Flaw(path, text, f"must be 1 to {most} printable characters without spaces around them")]


def _flaws_of_party(text: str) -> list[Flaw]:
    """A person whom nobody finds could approve what is done for them: a misspelt login is refused here."""
    if text and not (PARTY.fullmatch(text) and len(text) <= LONGEST_NAME and text.isprintable()):
        return [
            Flaw(
                "--on-behalf-of",
                text,
                _("must be person:LOGIN or system:NAME, at most {most} characters", most=LONGEST_NAME),
            )
        ]
    login = text.removeprefix(PERSON)
    if login != text and not User.objects.filter(username__iexact=login).exists():
        return [Flaw("--on-behalf-of", text, _("is no login here; make it first (create_person)"))]
    return []


def check_party(text: str) -> None:
    """Raises Invalid for what names nobody."""
    if flaws := _flaws_of_party(text):
        raise Invalid(_("Nothing was changed."), flaws)

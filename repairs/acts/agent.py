"""What operators do to agents: make, rotate and revoke keys, switch an agent off and on. Each is kept with its why."""

from __future__ import annotations

import datetime as dt

from repairs.acts.door import actor, needs
from repairs.desk import Desk
from repairs.roles import OPERATOR
from repairs.words.marked import _
from workflows import rows
from workflows.authority import agents, keys
from workflows.errors import Flaw, Invalid
from workflows.models import Agent, AgentKey
from workflows.why import reason

OVERLAPS = {"1h": dt.timedelta(hours=1), "24h": dt.timedelta(hours=24), "7d": dt.timedelta(days=7)}
LIVES = {"never": None, "30d": dt.timedelta(days=30), "90d": dt.timedelta(days=90), "365d": dt.timedelta(days=365)}


def new_key(desk: Desk, agent: Agent, *, why: str, life: str, on_behalf_of: str) -> str:
    """The key's text, for this one answer. Raises `Denied`, `Invalid`."""
    needs(desk.user, OPERATOR)
    agents.check_party(on_behalf_of)
    span = _chosen(LIVES, "life", life)
    end = rows.now() + span if span else None
    return keys.new_key(agent, by=actor(desk.user), why=reason(why), expires_at=end, for_whom=on_behalf_of)


def rotate_key(desk: Desk, key: AgentKey, *, why: str, overlap: str, life: str) -> str:
    needs(desk.user, OPERATOR)
    longer, span = _chosen(OVERLAPS, "overlap", overlap), _chosen(LIVES, "life", life)
    assert longer is not None
    return keys.rotate_key(key, by=actor(desk.user), why=reason(why), overlap=longer, life=span)


def revoke_key(desk: Desk, key: AgentKey, *, why: str) -> None:
    needs(desk.user, OPERATOR)
    keys.revoke_key(key, by=actor(desk.user), why=reason(why))


def switch(desk: Desk, agent: Agent, *, on: bool, why: str) -> None:
    needs(desk.user, OPERATOR)
    agents.change(agent, by=actor(desk.user), why=reason(why), active=on)


def _chosen(
    known: dict[str, dt.timedelta | None] | dict[str, dt.timedelta], name: str, text: str
) -> dt.timedelta | None:
    if text not in known:
        raise Invalid(
            _("This form is not whole; open the page anew."),
            [Flaw(name, text, _("is none of {names}", names=", ".join(known)))],
        )
    return known[text]

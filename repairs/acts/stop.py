"""Freezing and lifting from the console. Whoever works here may freeze; to lift takes an approver or an operator, and
another person than who froze it where the stop says so (the engine's verb checks that)."""

from __future__ import annotations

import datetime as dt
import uuid

from django.http import Http404

from repairs import frozen
from repairs.acts import glass as glasses
from repairs.acts.door import actor
from repairs.desk import Desk
from repairs.roles import APPROVER, OPERATOR, REPAIRER
from repairs.scope import visible
from repairs.words.marked import _
from workflows.authority import stops
from workflows.errors import Denied, Flaw, Invalid
from workflows.models import Agent, Stop
from workflows.models.stop import Target

MAY_FREEZE = frozenset({REPAIRER, APPROVER, OPERATOR})
MAY_LIFT = frozenset({APPROVER, OPERATOR})
OF_ALL_TEAMS = (Target.EVERYTHING, Target.TOOL, Target.WORKFLOW)


def freeze(
    desk: Desk, *, target: str, name: str, why: str, until: dt.datetime | None, second_person: bool | None
) -> stops.Frozen:
    if not desk.roles & MAY_FREEZE:
        login = desk.user.get_username()
        raise Denied(_("{login} may read here; to freeze takes a repairer, approver or operator.", login=login))
    if target == Target.AGENT and desk.teams is not None and not visible(desk, Agent).filter(name=name).exists():
        raise Invalid(_("Nothing was frozen."), [Flaw("name", name, _("is no agent of your teams"))])
    return stops.freeze(target, name, by=actor(desk.user), why=why, until=until, second_person=second_person)


def lift(desk: Desk, stop_id: uuid.UUID, *, why: str, glass: bool = False) -> Stop:
    """`glass`: they froze it, and lift it all the same (`acts.glass`)."""
    if not desk.roles & MAY_LIFT:
        login = desk.user.get_username()
        raise Denied(_("{login} may not lift a stop; that takes an approver or an operator.", login=login))
    stop = frozen.seen_by(desk).filter(id=stop_id).first()
    if stop is None:
        raise Http404("There is no such stop.")
    if no := _beyond(desk, stop):
        raise Denied(no)
    if glass:
        glasses.may(desk.user)
    return stops.lift(stop_id, by=actor(desk.user), why=why, glass=glass)


def _beyond(desk: Desk, stop: Stop) -> str:
    """Why a stop is not for this person to lift. Anybody may freeze; who lets work of other teams go must see it, or
    takes back what they did themselves."""
    if stop.cause == "restored" and OPERATOR not in desk.roles:
        return _("After a restore an operator says that work may go on.")
    own = stop.target != Target.EVERYTHING and stop.frozen_by == actor(desk.user)
    if stop.target in OF_ALL_TEAMS and desk.teams is not None and not own:
        return _("It holds the work of all teams; somebody who sees all of them can lift it.")
    return ""


def holds_everything(stop_id: uuid.UUID) -> bool:
    return Stop.objects.filter(id=stop_id, target=Target.EVERYTHING.value).exists()


FROZE_IT = _("You froze it; another person must lift it.")


def may_not_lift(desk: Desk, stop: Stop) -> str:
    """Why this person can't lift it, for the page; "" where they can."""
    if not desk.roles & MAY_LIFT:
        return _("An approver or an operator can lift it.")
    if no := _beyond(desk, stop):
        return no
    if stop.second_person and stop.frozen_by == actor(desk.user) and not desk.alone:
        return FROZE_IT
    return ""

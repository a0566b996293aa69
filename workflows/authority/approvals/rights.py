"""Who may approve: those the policy names, never who asked for it or on whose behalf it is, superusers included."""

from __future__ import annotations

import dataclasses
import datetime as dt
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib.auth.models import Group, User
from django.contrib.postgres.expressions import ArraySubquery
from django.db import connection
from django.db.models import Q
from django.db.models.fields.json import KT
from django.db.models.functions import Now

from workflows import rows
from workflows.authority import four_eyes
from workflows.authority.parties import PERSON, persons_behind
from workflows.authority.staff import EMERGENCY, UNDECIDING
from workflows.marked import _
from workflows.models import AgentAct, AgentKey, Approval, Effect, Entry, Policy
from workflows.models.policy import ACTIVE
from workflows.rows import ids

ASKING = ("create", "decide", "try_again", "unwind")  # what a person's entry in the journal asks to be sent
FOUND = "find"  # of any effect of the run: what a person typed in there is what later steps send
KEY_SHOWN = ("create", "new_key", "rotate_key")
RULES_ARE_NEW = dt.timedelta(hours=24)  # long enough for others to see what somebody's new rules let through
NAMED = 100  # characters of an actor that the journal keeps


@dataclasses.dataclass(frozen=True, slots=True)
class Stand:
    """How a person stands to an approval. `no`: why they are not among those who are asked, "" where they are;
    `another`: why another person must decide; `emergency`: whether they may break the glass for that; `undeciding`:
    whether they judge others, or say who may, and so say neither yes nor no."""

    no: str
    another: str
    emergency: bool = False
    undeciding: bool = False

    def why_not(self, *, glass: bool = False) -> str:
        """Why this person may not approve it; empty where they may."""
        alone = four_eyes.one_may(glass=glass and self.emergency)
        return self.no or ("" if alone else self.another)


def stand(approval: Approval, effect: Effect, user: User) -> Stand:
    login = user.get_username()
    if not user.is_active:
        return Stand(_("{login} is switched off", login=login), "")
    groups, rules = _groups_and_rules(user)
    if not entitled(approval.approvers, login, superuser=user.is_superuser, groups=groups):
        asks = _("the policy asks {whom}, and {login} is not among them", whom=named(approval.approvers), login=login)
        return Stand(asks, "", undeciding=not user.is_superuser and not UNDECIDING.isdisjoint(groups))
    return Stand("", another(effect, user, rules), user.is_superuser or EMERGENCY in groups)


def _groups_and_rules(user: User) -> tuple[set[str], Any]:
    """The person's groups, and the policy in force or None. One statement, for pages have few."""
    groups = Group.objects.filter(user=user).values("name")
    active = Policy.objects.filter(state=ACTIVE, active_from__lte=Now()).annotate(of_user=ArraySubquery(groups))
    rules = active.defer("text", "differences").order_by("-active_from", "-id").first()
    return (set(rules.of_user) if rules else set(groups.values_list("name", flat=True))), rules


def another(effect: Effect, user: User, rules: Any) -> str:
    """Why another person must decide: this one asked for it, or made the rules by which it is judged, just now."""
    login = user.get_username()
    if asked_for(effect, user):
        return _(
            "{login} may have asked for it (by hand, with a key that they were shown, or by what they found for its "
            "run), or it is done on their behalf; another person must approve it",
            login=login,
        )
    if rules is None or rules.drafted_by.casefold() != f"{PERSON}{login}"[:NAMED].casefold():
        return ""
    if rules.active_from + RULES_ARE_NEW <= rows.now():
        return ""
    return _(
        "{login} drafted {policy}, in force since {since}; for a day another person must approve it",
        login=login,
        policy=str(rules),
        since=f"{rules.active_from:%Y-%m-%d %H:%M} UTC",
    )


def why_not(approval: Approval, effect: Effect, user: User, *, glass: bool = False) -> str:
    """Why this person may not approve it; empty where they may."""
    return stand(approval, effect, user).why_not(glass=glass)


def why_not_refuse(approval: Approval, effect: Effect, user: User, known: Stand | None = None) -> str:
    """Why this person may not say no; empty where they are among those who are asked, or stand behind it, whatever
    their role. Who judges others, or says who may, says nothing of effects, not of their own. `known`: how they stand,
    where that was asked already."""
    found = known or stand(approval, effect, user)
    if not found.no or found.undeciding or not user.is_active:
        return found.no
    return "" if asked_for(effect, user) else found.no


def entitled(approvers: Any, login: str, *, superuser: bool, groups: Iterable[str]) -> bool:
    """A superuser has every role, and is nobody whom a list doesn't name. An auditor or admin decides nothing."""
    if not superuser and not UNDECIDING.isdisjoint(groups):
        return False
    if isinstance(approvers, str):
        return superuser or approvers in groups
    return login in approvers


def named(approvers: Any) -> str:
    return _("the role {role}", role=approvers) if isinstance(approvers, str) else ", ".join(approvers)


def asked_for(effect: Effect, user: User) -> bool:
    """Whether this person stands behind the effect, in whatever letters their login was written."""
    login = user.get_username().casefold()
    return not {login, login[: NAMED - len(PERSON)]}.isdisjoint(requesters(effect))


def requesters(effect: Effect) -> set[str]:
    """Logins, in small letters, of the persons behind an effect: on whose behalf it is, through agents that act for
    each other; who asked by hand for it or for its run's turning back; who told its run what was found; and who was
    shown a key with which it may have been asked for."""
    asked = Q(subject_id__in=[effect.id, effect.run_id], event__in=ASKING) | Q(run_id=effect.run_id, event=FOUND)
    by_hand = Entry.objects.filter(asked, actor__startswith=PERSON).values_list("actor", flat=True)
    return persons_behind({effect.on_behalf_of, effect.agent.on_behalf_of, *by_hand, *_key_holders(effect)})


def _key_holders(effect: Effect) -> Iterable[str]:
    """A key is shown to who makes it, whomever it is for. One that had ended before the run began asked for none of
    it."""
    began = effect.run.created_at
    keys = AgentKey.objects.filter(agent=effect.agent_id).exclude(Q(revoked_at__lt=began) | Q(expires_at__lt=began))
    shown = AgentAct.objects.filter(agent=effect.agent_id, what__in=KEY_SHOWN, by__startswith=PERSON)
    return shown.annotate(key=KT("facts__key")).filter(key__in=keys.values("prefix")).values_list("by", flat=True)


def counted(approvals: Sequence[Approval]) -> Counter[uuid.UUID]:
    """How many valid votes each has: for its present digest, of people who still may. One statement for all."""
    if not approvals:
        return Counter()
    by_id = {approval.id: approval for approval in approvals}
    votes: dict[uuid.UUID, set[str]] = defaultdict(set)
    with connection.cursor() as cursor:
        cursor.execute(VOTES, [ids(by_id)])
        for approval, login, superuser, groups in cursor.fetchall():
            if entitled(by_id[approval].approvers, login, superuser=superuser, groups=groups):
                votes[approval].add(login)
    return Counter({approval: len(logins) for approval, logins in votes.items()})


def lost(approvals: Sequence[Approval]) -> dict[uuid.UUID, str]:
    """Of decided approvals those whose approvers may not approve them any more."""
    votes = counted(approvals)
    return {a.id: "approver_lost_rights" for a in approvals if votes[a.id] < a.needed}


VOTES = """
SELECT v.approval_id, u.username, u.is_superuser,
  ARRAY(SELECT g.name FROM auth_user_groups m JOIN auth_group g ON g.id = m.group_id WHERE m.user_id = u.id)
FROM workflows_approvalvote v
JOIN workflows_approval a ON a.id = v.approval_id AND a.digest = v.seen_digest
JOIN auth_user u ON u.id = v.by_id AND u.is_active
WHERE v.approval_id = ANY (%s::uuid[]) AND v.verdict = 'approve'
"""

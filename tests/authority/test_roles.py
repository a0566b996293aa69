"""Role by act by state: every act of the console with each role, while there is something to do and when it is over."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db.models.functions import Now

from repairs.acts import proof
from repairs.models import Case
from repairs.roles import ADMIN, APPROVER, AUTHOR, MANAGER, OPERATOR, REPAIRER, ROLES
from repairs.views.acts import ASKED, OF_THE_RUN
from tests.authority.places import SHARED
from tests.authority.walk import OF_ONESELF, OF_ONESELF_ACTS, checksums, routes
from workflows.models import Approval, BudgetChange, Effect, Stop

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
R, A, O = {REPAIRER}, {APPROVER}, {OPERATOR}  # noqa: E741  one letter a role, as in a table
W, P, M = {AUTHOR}, {ADMIN}, {MANAGER}  # who writes policies; who makes people; who answers for others

MAY: dict[str, set[str]] = {
    "claim": R, "release": R, "look-again": R, "turn-back": R, "write-off": R,
    **{kind.value: R for kind in (*ASKED, *OF_THE_RUN)},
    "note-fact": R, "note-guess": R, "note-told": R, "judge": R, "tick": R, "correct-time": R,
    "snooze": R, "wake": R, "hurts": R, "escalate": R, "make-good": R, "call-off": R,
    "hand-over": R, "accept": R, "open-case": R, "reopen": R, "close": R,
    "confirm": A, "decline": A,
    "work-next": R,
    "batch-new": R, "batch-ask": R, "batch-stop": R, "batch-resume": R, "batch-confirm": A, "batch-decline": A,
    "freeze": R | A | O, "lift": A | O,
    "budget-change": R | O, "budget-confirm": A, "budget-decline": A,
    "policy-draft": O | W, "policy-try": O | A | W, "policy-activate": O | A, "policy-discard": O | W,
    "tool-withdraw": O, "tool-restore": O, "tool-believe": O, "effect-version": O | A,
    "agent-key-new": O, "agent-key-rotate": O, "agent-key-revoke": O, "agent-switch": O,
    "review": A | O | M,
    "person-create": P, "person-change": P, "person-reset": P,
}  # fmt: skip
P_ACTS = {name for name, roles in MAY.items() if roles == P}
# What is approved is up to the policy's approvers: a role, or people. Who may only read is refused at once.
BY_POLICY = {
    "approval-ask",
    "approval-not-mine",
    "approval-answer",
    "approval-read",
    "approval-approve",
    "approval-refuse",
    "approval-take-back",
}


@pytest.mark.parametrize("state", ["live", "over"])
def test_each_act_is_refused_to_every_role_but_its_own_in_every_state(
    places: dict[str, dict[str, Any]], person: Make, browse: Make, state: str
) -> None:
    own = {**SHARED, **places["ours"]}
    if state == "over":
        Case.objects.update(state="resolved", closed_at=Now())
        Approval.objects.update(state="refused", decided_at=Now())
        Stop.objects.update(state="lifted", lifted_at=Now())
        BudgetChange.objects.update(state="declined")
    people = {role: browse(person(role, role)) for role in ROLES}
    people["nobody"] = browse(person("nobody"))
    acts, pages = {}, []
    for route in routes():
        if state == "over" and route.route.startswith("admin/"):
            continue  # records know no state
        address = route.address({**own, "key": own["run_id"]})
        if people[MANAGER].get(address).status_code == 405:
            acts[route.name] = address
        else:
            pages.append(address)
    for name in OF_ONESELF_ACTS:
        acts.pop(name, None)
    assert set(acts) == {*MAY, *BY_POLICY}, "a new act says above whose it is"
    before = checksums()
    for address in pages:
        if address not in OF_ONESELF:
            assert people[MANAGER].post(address, {"why": ""}).status_code in (404, 405), address
    for name, address in acts.items():
        for role in people.keys() - whose(name):
            assert people[role].post(address, {"why": ""}).status_code == 403, f"{name} by {role}"
    assert checksums() == before, "what was refused changed something"
    for name, address in acts.items():
        for role in people.keys() & whose(name):
            status = people[role].post(address, {"why": ""}).status_code
            assert status in (302, 400, 404, 409), f"{name} by {role}: {status}"
    assert not Effect.objects.filter(state="dispatched").exists()


# What can't be taken back, and giving rights. Which approvals and stops too is told in test_staff.py.
SHOWN_AGAIN = {"confirm", "budget-confirm", "policy-activate", "tool-believe", *P_ACTS}
DECIDES = SHOWN_AGAIN | {
    "decline", "batch-confirm", "batch-decline", "budget-decline", "effect-version",
    "lift", "approval-approve", "approval-refuse", "approval-take-back",
}  # fmt: skip


@pytest.mark.parametrize(("required", "asks"), [("offered", SHOWN_AGAIN), ("required", DECIDES)])
def test_whoever_shows_nothing_again_is_refused_exactly_what_wants_it(
    places: dict[str, dict[str, Any]], person: Make, browse: Make, settings: Any, required: str, asks: set[str]
) -> None:
    settings.SECOND_FACTOR = required
    own = {**SHARED, **places["ours"]}
    everything, admin = browse(person("all", REPAIRER, APPROVER, OPERATOR, AUTHOR)), browse(person("admin", ADMIN))
    for client in (everything, admin):
        session = client.session
        session[proof.PROVED]["at"] -= proof.LASTS.total_seconds() + 1
        session.save()
    before = None
    for route in sorted(routes(), key=lambda route: route.name not in asks):  # those that may do something come last
        if route.name not in {*MAY, *BY_POLICY}:
            continue
        if route.name in asks:
            before = before or checksums()
        elif before:
            assert checksums() == before, "what was refused changed something"
            before = None
        client = admin if route.name in P_ACTS else everything
        refused = client.post(route.address(own), {"why": "because"}).status_code == 403
        assert refused == (route.name in asks), route.name


def test_the_table_of_who_may_do_what_is_what_the_code_lets_them() -> None:
    page = (Path(__file__).parents[2] / "docs" / "security.md").read_text(encoding="utf-8")
    head, _, *rows = re.search(r"^\| acts \|.*?\n\n", page, re.MULTILINE | re.DOTALL)[0].split("\n")  # type: ignore[index]
    columns = [cell.strip() for cell in head.strip("|").split("|")][1:]
    told: dict[str, set[str]] = {}
    for row in filter(None, rows):
        acts, *cells = (cell.strip() for cell in row[1:-1].split("|"))
        may = {role for role, cell in zip(columns, cells, strict=True) if cell == "yes"}
        told |= {name.strip(): may for name in acts.removesuffix(", if policy names them").split(",")}
    assert told == {name: whose(name) for name in {*MAY, *BY_POLICY}}


def whose(name: str) -> set[str]:
    return R | A | O if name in BY_POLICY else MAY[name]

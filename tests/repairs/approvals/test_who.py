"""Who may approve and refuse in the console: whom the policy asks, in their own name; never who stands behind it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from repairs.acts import approve as acts
from tests.engine.simulated import World
from tests.repairs.approvals.pages import ACTS, everything, form, page_of, rewrite, say, state
from workflows.authority.keys import make_key
from workflows.models import Approval, ApprovalVote, Entry

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]


@pytest.mark.parametrize("how", ["behalf", "delegated", "superuser", "by hand"])
def test_d11_who_is_behind_it_may_refuse_and_not_approve(
    asking: Make, person: Make, browse: Make, how: str, world: World
) -> None:
    approval = asking()
    user = person("boss", "approver")
    if how == "superuser":
        User.objects.filter(id=user.id).update(is_superuser=True)
    if how == "by hand":
        entry = Entry.objects.filter(subject_id=approval.effect_id).order_by("seq").first()
        assert entry is not None
        rewrite("UPDATE workflows_entry SET actor = 'person:boss' WHERE id = %s", entry.id)
    elif how == "delegated":
        middle = type(approval.agent).objects.create(name="middle", on_behalf_of="person:boss")
        rewrite(
            "UPDATE workflows_agent SET on_behalf_of = %s WHERE id = %s", f"system:{middle.name}", approval.agent_id
        )
    else:
        rewrite("UPDATE workflows_agent SET on_behalf_of = 'person:boss' WHERE id = %s", approval.agent_id)
    mine = browse(user)
    assert "another person must approve it" in page_of(mine, approval)
    status, page = say(mine, approval, **form(mine, approval))
    assert (status, state(approval)) == (403, "asked")
    assert "another person must approve it" in page
    say(mine, approval, "refuse", **form(mine, approval))
    assert state(approval) == "refused"
    assert world.sends == []


def test_with_one_person_only_they_may_approve_alone_where_the_installation_says_so(
    asking: Make, person: Make, browse: Make, settings: Any
) -> None:
    settings.FOUR_EYES = "when_possible"
    approval = asking()
    rewrite("UPDATE workflows_agent SET on_behalf_of = 'person:boss' WHERE id = %s", approval.agent_id)
    mine = browse(person("boss", "approver"))
    assert "Here one person may approve it alone" in page_of(mine, approval)
    say(mine, approval, **form(mine, approval))
    assert state(approval) == "granted"
    assert ApprovalVote.objects.get().alone
    assert "alone, where another should have" in page_of(mine, approval)


def test_c56_a_role_lost_between_the_page_and_the_click_counts(asking: Make, client: Client, approver: User) -> None:
    approval = asking()
    sent = form(client, approval)
    approver.groups.set(Group.objects.filter(name="repairer"))
    status, page = say(client, approval, **sent)
    assert (status, state(approval)) == (403, "asked")
    assert "is not among them" in page
    approver.groups.clear()
    assert say(client, approval, **sent)[0] == 403
    assert state(approval) == "asked"


def test_c56_an_agents_key_approves_nothing_by_any_address(asking: Make, agent: Any, client: Client) -> None:
    approval = asking()
    sent = {**form(client, approval), "resolved_by": "nobody", "by": "approver", "user": "approver", "channel": "ops"}
    headers = {"Authorization": f"Bearer {make_key(agent)}"}
    before = everything()
    for act in ACTS:
        answer = Client().post(f"/approvals/{approval.id}/{act}", sent, headers=headers)
        assert (answer.status_code, answer["Location"][:13]) == (302, "/admin/login/")
    for address in (
        f"/api/v1/approvals/{approval.id}",
        f"/api/v1/approvals/{approval.id}/approve",
        f"/api/v1/effects/{approval.effect_id}/approve",
        f"/api/v1/effects/{approval.effect_id}",
    ):
        for method in ("post", "put", "patch", "delete"):
            answer = getattr(Client(), method)(
                address, json.dumps(sent), content_type="application/json", headers=headers
            )
            assert answer.status_code in (404, 405), address
    assert everything() == before


def test_c56_fields_of_the_body_name_nobody(asking: Make, client: Client, approver: User) -> None:
    approval = asking()
    say(client, approval, **form(client, approval, by="somebody", user="9", resolved_by="nobody", alone="1"))
    vote = ApprovalVote.objects.get()
    assert (vote.by, vote.alone) == (approver, False)
    assert Entry.objects.get(subject_id=approval.id, event="grant").actor == "person:approver"


def test_d11_who_acts_in_anothers_name_decides_nothing(asking: Make, client: Client) -> None:
    approval = asking()
    sent = form(client, approval)
    session = client.session
    session["hijack_history"] = ["7"]
    session.save()
    status, page = say(client, approval, **sent)
    assert (status, state(approval)) == (403, "asked")
    assert "in another person's name" in page


def test_d11_who_is_logged_out_meanwhile_decides_nothing(asking: Make, client: Client, approver: User) -> None:
    approval = asking()
    sent = form(client, approval)
    session = client.session
    type(session)(session.session_key).delete()
    with pytest.raises(Exception, match="You are logged out"):
        acts.approve(approval.id, by=approver, session=session, why="yes", note=sent["note"], answer=sent["answer"])
    assert client.post(f"/approvals/{approval.id}/approve", sent)["Location"].startswith("/admin/login/")
    assert (state(approval), ApprovalVote.objects.count()) == ("asked", 0)


def test_a_person_without_the_role_reads_and_decides_nothing(asking: Make, person: Make, browse: Make) -> None:
    approval = asking()
    reader = browse(person("reader"))
    page = page_of(reader, approval)
    assert "You can't approve it" in page
    assert "<button formaction" not in page
    assert ">Refuse</button>" not in page
    sent = {"why": "because", "note": noted(approval, User.objects.get(username="reader"))}
    assert say(reader, approval, **sent)[0] == 403
    assert say(reader, approval, "refuse", **sent)[0] == 403
    assert state(approval) == "asked"


def noted(approval: Approval, user: User) -> str:
    """As if the form had been shown to this person."""
    at = approval.asked_at
    seen = acts.Seen(approval=approval.id, user=user.pk, digest=approval.digest, opened_at=at, read_at="", whole=True)
    return seen.note()


@pytest.mark.parametrize("role", ["", "manager", "admin", "auditor"])
def test_who_stands_behind_it_refuses_it_without_any_role_unless_they_judge_others(
    asking: Make, person: Make, browse: Make, world: World, role: str
) -> None:
    approval = asking()
    rewrite("UPDATE workflows_agent SET on_behalf_of = 'person:boss' WHERE id = %s", approval.agent_id)
    mine = browse(person("boss", *filter(None, [role])))
    if role in ("admin", "auditor"):
        assert 'name="note"' not in page_of(mine, approval)
        sent = {"why": "a slip", "note": noted(approval, User.objects.get(username="boss"))}
        assert (say(mine, approval, "refuse", **sent)[0], state(approval)) == (403, "asked")
        return
    assert "You may refuse it" in page_of(mine, approval)
    sent = form(mine, approval)
    for act in ("approve", "take-back", "read"):
        assert say(mine, approval, act, **sent)[0] == 403, "they may say no, and nothing else"
    say(mine, approval, "refuse", **sent)
    assert (state(approval), world.sends) == ("refused", [])

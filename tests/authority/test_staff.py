"""People: second factors, showing again who one is, sessions, and what admins change. Told through the console."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

import pytest
from axes.models import AccessAttempt
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from repairs.acts import proof, second_factor
from repairs.models import Person, PersonAct, SecondFactor
from workflows import proof as proving
from workflows import rows
from workflows.authority import approvals, policies, stops
from workflows.authority.sealing import unseal
from workflows.errors import Denied
from workflows.models import Approval, Policy, Stop, Team

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
PASSWORD = "a long enough one"


@pytest.fixture(autouse=True)
def _quick_hashes(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def code(user: User, later: int = 0) -> str:
    """What the person's app shows now, or some steps later."""
    factor = SecondFactor.objects.get(user=user)
    step = int(rows.now().timestamp()) // second_factor.STEP + later
    totp = TOTP(bytes.fromhex(unseal(factor.sealed)), 6, SHA1(), second_factor.STEP)
    return totp.generate(step * second_factor.STEP).decode()


def fresh(user: User) -> str:
    """A code that was not used: as if its half minute had just begun."""
    SecondFactor.objects.filter(user=user).update(last_step=0)
    return code(user)


def set_up(client: Client, user: User) -> list[str]:
    """Through the pages. The recovery codes."""
    assert client.post("/account/begin", {"proof": PASSWORD}).status_code == 200
    shown = client.post("/account/confirm", {"code": code(user)}).content.decode()
    return re.findall(r"\b[0-9a-f]{20}\b", shown)


def long_ago(client: Client) -> None:
    """As if nothing had been entered for longer than that counts."""
    session = client.session
    session[proof.PROVED] = {**session.get(proof.PROVED, {}), "at": timezone.now().timestamp() - 301}
    session.save()


@pytest.fixture
def frozen() -> Stop:
    return stops.freeze("everything", "", by="person:somebody", why="an incident").stop


def lift(client: Client, stop: Stop, **more: str) -> Any:
    return client.post(f"/stops/{stop.id}/lift", {"why": "it is over", **more})


def test_a_second_factor_is_set_up_by_a_code_and_its_secret_and_recovery_codes_are_shown_once(
    person: Make, browse: Make, caplog: pytest.LogCaptureFixture
) -> None:
    user = person("night-desk", "approver")
    client = browse(user)
    assert client.post("/account/begin", {"proof": "wrong"}).status_code == 403
    shown = client.post("/account/begin", {"proof": PASSWORD}).content.decode()
    secret = re.search(r"<code>([A-Z2-7 ]{39})</code>", shown)[1]  # type: ignore[index]
    assert 'class="qr"' in shown
    assert client.post("/account/confirm", {"code": "000000"}).status_code == 403
    answer = client.post("/account/confirm", {"code": code(user)})
    codes = re.findall(r"\b[0-9a-f]{20}\b", answer.content.decode())
    assert len(codes) == second_factor.CODES
    after = client.get("/account/").content.decode()
    kept = str(SecondFactor.objects.values().get()) + str(PersonAct.objects.values()) + caplog.text
    for text in (secret, secret.replace(" ", ""), *codes):
        assert text not in after
        assert text not in kept
    assert client.post("/account/begin", {"proof": PASSWORD}).status_code == 409, "a confirmed one is removed first"


def test_a_code_and_a_recovery_code_count_once(person: Make, browse: Make) -> None:
    user = person("night-desk", "approver")
    codes = set_up(browse(user), user)
    right = fresh(user)
    second_factor.check(user, right)
    for spent in (right, codes[0]):
        if spent != right:
            second_factor.check(user, spent)
        with pytest.raises(Denied, match="not right, or was used before"):
            second_factor.check(user, spent)
    assert len(SecondFactor.objects.get(user=user).codes) == second_factor.CODES - 1


def test_wrong_codes_make_even_the_right_one_wait(person: Make, browse: Make) -> None:
    user = person("night-desk", "approver")
    set_up(browse(user), user)
    for _ in range(second_factor.FREE_TRIES + 1):
        with pytest.raises(Denied):
            second_factor.check(user, "000000x")
    with pytest.raises(Denied, match="Too many wrong codes"):
        second_factor.check(user, fresh(user))
    SecondFactor.objects.update(wait_until=rows.now() - dt.timedelta(seconds=1))
    second_factor.check(user, fresh(user))


def test_a_second_factor_is_removed_by_a_code_and_nobody_else_s_session_profits(person: Make, browse: Make) -> None:
    user = person("night-desk", "approver")
    client = browse(user)
    set_up(client, user)
    assert client.post("/account/remove", {"code": "123"}).status_code == 403
    assert client.post("/account/remove", {"code": fresh(user)}).status_code == 302
    assert not SecondFactor.objects.exists()
    assert [one.what for one in PersonAct.objects.all()] == ["second_factor_set", "second_factor_removed"]


def test_where_a_second_factor_is_required_nobody_decides_without_one_and_everybody_looks(
    person: Make, browse: Make, asking: Make, settings: Any, frozen: Stop
) -> None:
    settings.SECOND_FACTOR = "required"
    user = person("night-desk", "approver", "operator")
    client = browse(user)
    stops.lift(frozen.id, by="person:day-desk", why="for the test")
    _, approval = asking()
    page = client.get(f"/approvals/{approval.id}/")
    assert page.status_code == 200
    assert "Set one up" in page.content.decode()
    for act in ("approve", "refuse"):
        note = page.context["note"]
        answer = client.post(f"/approvals/{approval.id}/{act}", {"why": "kept words", "note": note})
        assert answer.status_code == 403
        assert "Set one up under your name" in answer.content.decode()
        assert "kept words" in answer.content.decode()
    set_up(client, user)
    other = browse(user)
    asked = other.get(f"/approvals/{approval.id}/")
    assert "Your code" in asked.content.decode(), "another session has shown no code"
    note = asked.context["note"]
    assert other.post(f"/approvals/{approval.id}/refuse", {"why": "no", "note": note}).status_code == 403
    typed = {"why": "no", "note": note, "proof": fresh(user)}
    assert other.post(f"/approvals/{approval.id}/refuse", typed).status_code == 302
    assert Approval.objects.get(id=approval.id).state == "refused"


def test_what_cant_be_taken_back_wants_the_password_again_after_five_minutes_and_keeps_what_was_typed(
    person: Make, browse: Make, asking: Make
) -> None:
    client = browse(person("night-desk", "approver"))
    _, approval = asking(effect_class="irreversible")
    long_ago(client)
    page = client.get(f"/approvals/{approval.id}/")
    assert "Your password, once more" in page.content.decode()
    asks = page.context["check"]
    typed = {"why": "kept words", "note": page.context["note"], "answer": asks.answer if asks else "", "unread": "yes"}
    for wrong in ({}, {"proof": "a wrong one"}):
        answer = client.post(f"/approvals/{approval.id}/approve", {**typed, **wrong})
        assert answer.status_code == 403
        assert "kept words" in answer.content.decode()
    assert Approval.objects.get(id=approval.id).state == "asked"
    assert "a wrong one" not in str(AccessAttempt.objects.values())
    answer = client.post(f"/approvals/{approval.id}/approve", {**typed, "proof": PASSWORD})
    assert answer.status_code == 302, answer.content.decode()
    assert Approval.objects.get(id=approval.id).state == "granted"


def test_who_has_a_second_factor_shows_a_code_and_a_password_does_not_stand_in_for_it(
    person: Make, browse: Make, frozen: Stop
) -> None:
    user = person("night-desk", "operator")
    set_up(browse(user), user)
    client = browse(user)
    assert lift(client, frozen, proof=PASSWORD).status_code == 403
    before = client.session.session_key
    assert lift(client, frozen, proof=fresh(user)).status_code == 302
    assert client.session.session_key != before, "the session goes on under a new key"
    again = stops.freeze("everything", "", by="person:somebody", why="another").stop
    long_ago(client)
    assert lift(client, again).status_code == 403


@pytest.mark.parametrize("target", ["everything", "subject"])
def test_only_the_stop_of_everything_wants_it_again(person: Make, browse: Make, target: str) -> None:
    client = browse(person("night-desk", "operator"))
    name = "" if target == "everything" else "customer:7"
    stop = stops.freeze(target, name, by="person:somebody", why="an incident").stop
    long_ago(client)
    assert lift(client, stop).status_code == (403 if target == "everything" else 302)


def test_a_policy_is_activated_only_by_who_has_just_shown_who_they_are(person: Make, browse: Make) -> None:
    present = policies.in_force()
    assert present is not None
    draft = policies.draft(present.text, by="person:author", why="again")
    client = browse(person("night-desk", "operator", "approver"))
    assert client.post(f"/policies/{draft.id}/try").status_code == 302
    long_ago(client)
    assert client.post(f"/policies/{draft.id}/activate").status_code == 403
    answer = client.post(f"/policies/{draft.id}/activate", {"proof": PASSWORD})
    assert answer.status_code == 302, answer.content.decode()
    assert Policy.objects.get(id=draft.id).state == "active"


def test_an_author_drafts_and_tries_and_activates_nothing(person: Make, browse: Make) -> None:
    present = policies.in_force()
    assert present is not None
    client = browse(person("night-desk", "author"))
    assert client.post("/policies/draft", {"text": present.text, "why": "stricter", "how": "keep"}).status_code == 302
    draft = Policy.objects.get(state="draft")
    assert client.post(f"/policies/{draft.id}/try").status_code == 302
    assert client.post(f"/policies/{draft.id}/activate").status_code == 403


def test_an_auditor_reads_every_team_s_work_and_an_admin_s_or_auditor_s_word_never_counts(
    person: Make, browse: Make, asking: Make
) -> None:
    auditor = person("auditor", "auditor", "approver")
    Person.objects.create(user=auditor).teams.add(Team.objects.create(name="elsewhere"))
    _, approval = asking()
    for user in (auditor, person("admin", "admin", "approver")):
        client = browse(user)
        assert client.post(f"/approvals/{approval.id}/approve", {"why": "x"}).status_code == 403
        assert "is not among them" in approvals.why_not(approval, approval.effect, user), "the engine asks it itself"
    assert browse(auditor).get(f"/approvals/{approval.id}/").status_code == 200
    assert browse(auditor).get("/people/").status_code == 200


def test_a_changed_password_ends_every_other_session_of_the_person(person: Make, browse: Make) -> None:
    user = person("night-desk", "repairer")
    here, there = browse(user), browse(user)
    new = {"old_password": PASSWORD, "new_password1": "quite another one", "new_password2": "quite another one"}
    assert here.post("/admin/password_change/", new).status_code == 302
    assert here.get("/").status_code == 200
    assert there.get("/").status_code == 302


def test_a_role_that_was_taken_away_and_a_login_switched_off_count_from_the_next_request_on(
    person: Make, browse: Make, frozen: Stop
) -> None:
    client = browse(person("night-desk", "operator"))
    admin = browse(person("office", "admin"))
    changed = {"login": "night-desk", "why": "moves on", "roles": ["repairer"], "active": "yes"}
    assert admin.post("/people/change", changed).status_code == 302
    assert lift(client, frozen).status_code == 403
    assert (
        admin.post("/people/change", {"login": "night-desk", "why": "left", "roles": ["repairer"]}).status_code == 302
    )
    assert client.get("/").status_code == 302


def test_a_session_ends_hours_after_something_was_last_entered_in_it(person: Make) -> None:
    person("night-desk", "repairer")
    answer = Client().post("/admin/login/", {"username": "night-desk", "password": PASSWORD, "next": "/"})
    assert answer.cookies["sessionid"]["max-age"] == 12 * 3600


def test_an_admin_makes_and_changes_people_and_each_change_is_kept_in_a_history_that_is_proved(
    person: Make, browse: Make
) -> None:
    admin = browse(person("office", "admin"))
    made = admin.post("/people/create", {"login": "ray", "roles": ["approver"], "why": "new here"})
    password = re.search(r"One-time password, shown this once: <code>([\w-]+)</code>", made.content.decode())[1]  # type: ignore[index]
    assert password not in admin.get("/people/").content.decode()
    entered = Client()
    assert entered.post("/admin/login/", {"username": "ray", "password": password, "next": "/"}).status_code == 302
    assert entered.get("/people/")["Location"] == "/admin/password_change/"
    changed = {"login": "ray", "roles": ["auditor"], "teams": [], "active": "yes", "why": "another desk"}
    assert admin.post("/people/change", changed).status_code == 302
    acts = [(act.login, act.what, act.by, act.why) for act in PersonAct.objects.all()]
    assert acts == [("ray", "create", "person:office", "new here"), ("ray", "change", "person:office", "another desk")]
    last = PersonAct.objects.last()
    assert last is not None
    assert last.facts == {"roles_were": ["approver"], "roles": ["auditor"]}
    flaws: list[proving.Flaw] = []
    proving.verify(flaws.append)
    assert flaws == []
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE repairs_personact SET by = 'somebody'")


@pytest.mark.parametrize(
    ("form", "status", "words"),
    [
        ({"login": "office", "roles": ["approver"], "why": "me"}, 403, "nobody gives roles to themselves"),
        ({"login": "night-desk", "roles": ["admin", "approver"], "why": "both"}, 400, "goes with no other role"),
        ({"login": "night-desk", "roles": ["king"], "why": "x"}, 400, "is no role"),
        ({"login": "night-desk", "roles": ["approver"], "why": ""}, 400, "Say why"),
        ({"login": "nobody-here", "roles": ["approver"], "why": "x"}, 400, "has no login here"),
        ({"login": "night-desk", "teams": ["a\x00"], "roles": ["approver"], "why": "x"}, 400, "no such team"),
        ({"login": "night\x00", "roles": ["approver"], "why": "x"}, 400, "has no login here"),
        ({"login": "root", "roles": ["approver"], "why": "x"}, 403, "superuser"),
    ],
)
def test_roles_that_may_not_be_given_are_refused_whole(
    person: Make, browse: Make, form: dict[str, Any], status: int, words: str
) -> None:
    admin = browse(person("office", "admin"))
    person("night-desk", "repairer")
    User.objects.create_superuser("root", password=None)
    answer = admin.post("/people/change", {"active": "yes", **form})
    assert answer.status_code == status
    assert words in answer.content.decode()
    assert not PersonAct.objects.exists()


def test_the_pages_of_people_and_of_the_account_take_few_queries_however_many_there_are(
    person: Make, browse: Make
) -> None:
    office, teams = person("office", "admin"), [Team.objects.create(name=f"team {n}") for n in range(3)]
    for n in range(20):
        Person.objects.create(user=person(f"person-{n}", "repairer", "author")).teams.set(teams)
    client = browse(office)
    for path in ("/people/", "/account/"):
        with CaptureQueriesContext(connection) as asked:
            assert client.get(path).status_code == 200
        assert len(asked) <= 12, path


def test_a_lost_second_factor_is_taken_away_by_another_and_from_the_shell(person: Make, browse: Make) -> None:
    user = person("night-desk", "approver")
    admin = browse(person("office", "admin"))
    for take in (
        lambda: admin.post("/people/reset", {"login": "night-desk", "why": "phone lost"}),
        lambda: call_command("person", "night-desk", "--reset-second-factor", "--why", "phone lost"),
    ):
        set_up(browse(user), user)
        take()
        assert not SecondFactor.objects.exists()
    assert [one.by for one in PersonAct.objects.filter(what="second_factor_reset")] == ["person:office", "command"]
    with pytest.raises(CommandError, match="Say what to change"):
        call_command("person", "night-desk", "--why", "x")


def test_of_many_people_a_page_shows_fifty_and_a_login_finds_the_others(person: Make, browse: Make) -> None:
    boss = browse(person("a-boss", "admin"))
    User.objects.bulk_create(User(username=f"desk-{n:03}", is_staff=True) for n in range(120))
    seen: list[str] = []
    address = "/people/"
    while address:
        text = boss.get(address).content.decode()
        assert len(text) < 300_000, "a page that nobody waits for (D05)"
        seen += re.findall(r'name="login" value="(desk-\d+)"', text)
        more = re.search(r'href="([^"]+)" rel="next"', text)
        address = more[1].replace("&amp;", "&") if more else ""
    assert seen == [f"desk-{n:03}" for n in range(120)]
    answer = boss.post("/people/change", {"login": "desk-119", "why": "", "roles": ["repairer"]})
    assert answer.status_code == 400
    assert 'name="login" value="desk-119"' in answer.content.decode(), "the refused form isn't on the page"
    assert "Nobody has such a login" in boss.get("/people/?login=%25").content.decode()
    assert boss.get("/people/?login=%00").status_code == 404
    assert boss.get("/people/?after=x").status_code == 400

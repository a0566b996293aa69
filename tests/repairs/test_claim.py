"""The claim of a case: one holder at a time, kept by working, lost with the lease, taken over with a reason."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client

from config import notices
from repairs import presence
from repairs.acts import claim, look_again
from repairs.models import Act, Case, Notice, Presence
from workflows import rows
from workflows.errors import StaleFence
from workflows.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
MINUTE = dt.timedelta(minutes=1)


def now_of(case: Case) -> Case:
    return Case.objects.select_related("run").get(id=case.id)


def lease(case: Case) -> dt.datetime:
    until = now_of(case).lease_until
    assert until is not None
    return until


def left(case: Case, minutes: float) -> None:
    """As if the lease had so many minutes left."""
    Case.objects.filter(id=case.id).update(lease_until=rows.now() + minutes * MINUTE)


def tell(client: Client, case: Case, **more: Any) -> str:
    """What a page that was opened now and says that it is open is answered."""
    known = now_of(case)
    form = {"fence": known.fence, "as_of": f"{known.seq}.{known.run.seq}", **more}
    answer = client.post(f"/repairs/{case.number}/here", form)
    assert answer.status_code == 200
    return answer.content.decode()


def test_two_people_who_claim_at_once_both_hold_it(stuck: Make, day: User, night: User) -> None:
    case, both = stuck(), threading.Barrier(2)
    won: list[User] = []
    refused: list[str] = []

    def go(by: User) -> None:
        both.wait()
        try:
            claim.claim(case.id, by=by)
            won.append(by)
        except StaleFence as error:
            refused.append(error.detail)
        finally:
            connection.close()

    threads = [threading.Thread(target=go, args=(by,)) for by in (day, night)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 1
    assert "Say why if you take it over" in refused[0]
    assert ([now_of(case).claimed_by], now_of(case).fence) == (won, 1)
    assert Act.objects.count() == 1


def test_a_page_from_before_somebody_else_held_the_case_acts_on_it(stuck: Make, day: User, night: User) -> None:
    case, effect = stuck(), Effect.objects.get(state="stuck")
    claim.claim(case.id, by=day)
    claim.claim(case.id, by=night, why="it burns")
    claim.claim(case.id, by=day, why="I had called them")
    with pytest.raises(StaleFence, match="in other hands"):
        look_again.look_again(case.id, effect_id=effect.id, by=day, why="x", fence=1)
    look_again.look_again(case.id, effect_id=effect.id, by=day, why="x", fence=3)


def test_a_reason_to_take_it_from_one_person_takes_it_from_the_next(
    stuck: Make, day: User, night: User, person: Make
) -> None:
    case = stuck()
    claim.claim(case.id, by=day)
    seen = now_of(case).fence
    claim.claim(case.id, by=night, why="day-desk went home")
    with pytest.raises(StaleFence, match="changed hands"):
        claim.claim(case.id, by=person("third", "repairer"), why="day-desk went home", fence=seen)


def test_working_on_the_page_does_not_keep_the_claim_or_looking_at_it_does(
    stuck: Make, day: User, night: User, browse: Make
) -> None:
    case = stuck()
    claim.claim(case.id, by=day)
    left(case, 5)
    for client, active in ((browse(day), ""), (browse(night), "1")):
        tell(client, case, active=active)
        assert lease(case) < rows.now() + 6 * MINUTE
    tell(browse(day), case, active="1", fence=now_of(case).fence - 1)
    assert lease(case) < rows.now() + 6 * MINUTE, "an old page keeps nothing"
    tell(browse(day), case, active="1")
    assert lease(case) > rows.now() + 14 * MINUTE
    assert not presence.renew(case, day, now_of(case).fence, rows.now()), "each word of a page is a write"


def test_work_on_a_page_revives_a_claim_that_ran_out(stuck: Make, day: User, browse: Make) -> None:
    case = stuck()
    claim.claim(case.id, by=day)
    left(case, -1)
    tell(browse(day), case, active="1")
    assert lease(case) < rows.now()


def test_a_page_keeps_silent_about_who_else_looks_what_changed_and_who_holds_it_now(
    stuck: Make, day: User, night: User, browse: Make
) -> None:
    case, days, nights = stuck(), browse(day), browse(night)
    old = {"fence": case.fence, "as_of": f"{case.seq}.{now_of(case).run.seq}"}
    assert tell(days, case).strip() == "", "nobody needs to be told that they are there"
    assert "day-desk</bdi> has this case open since" in tell(nights, case)
    since = Presence.objects.get(user=day).opened_at
    tell(days, case)
    assert Presence.objects.get(user=day).opened_at == since
    Presence.objects.update(seen_at=rows.now() - 2 * presence.GONE)
    assert tell(nights, case).strip() == "", "whose page says nothing any more is gone"
    tell(days, case)
    assert Presence.objects.get(user=day).opened_at > since
    claim.claim(case.id, by=night)
    assert "night-desk</bdi> holds C-" in tell(days, case, **old)
    assert "holds C-" not in tell(days, case), "a page that shows who holds it says it again"
    assert "holds C-" not in tell(nights, case, **old), "who holds it is told of it as if it were another"
    claim.release(case.id, by=night)
    assert "changed since you opened it" in tell(days, case, **old)
    assert days.post(f"/repairs/{case.number}/here", {"fence": "x"}).status_code == 400


def test_who_lost_a_case_is_not_told_or_told_for_ever(
    stuck: Make, day: User, night: User, browse: Make, settings: Any
) -> None:
    settings.NOTICES = notices.receivers("sim-desk=json://127.0.0.1:1/x")
    case, days = stuck(), browse(day)
    claim.claim(case.id, by=day)
    claim.claim(case.id, by=night, why="it burns")
    assert Notice.objects.filter(what="take_over", subject=case.id).count() == 1
    said = f"night-desk</bdi> took C-{case.number} over from you."
    for address in ("/", "/repairs/", f"/repairs/{case.number}/"):
        assert said in days.get(address).content.decode()
    assert said not in browse(night).get("/").content.decode()
    days.post(f"/repairs/{case.number}/known")
    assert said not in days.get("/").content.decode()
    claim.claim(case.id, by=day, why="I had called them")
    claim.claim(case.id, by=night, why="it still burns")
    claim.claim(case.id, by=day, why="so I came back")
    assert said not in days.get("/").content.decode(), "who has it back needs no word"


def test_what_the_late_holder_typed_is_lost(stuck: Make, day: User, night: User, browse: Make) -> None:
    case, days, effect = stuck(), browse(day), Effect.objects.get(state="stuck")
    claim.claim(case.id, by=day)
    form = {"effect": effect.id, "fence": now_of(case).fence, "why": "typed with care"}
    claim.claim(case.id, by=night, why="it burns")
    refused = days.post(f"/repairs/{case.number}/look-again", form)
    assert refused.status_code == 409
    page = refused.content.decode()
    assert "night-desk holds C-" in page
    assert '<textarea id="kept" rows="3" readonly>typed with care</textarea>' in page
    assert not Act.objects.filter(kind="look_again").exists()


def test_what_is_over_is_kept_for_ever(stuck: Make, day: User, night: User) -> None:
    case = stuck()
    for user in (day, night):
        presence.note(case, user)
    Presence.objects.filter(user=day).update(taken_by=night)
    for age, kept in ((presence.KEPT, [day]), (presence.TOLD, [])):
        Presence.objects.update(seen_at=rows.now() - age - MINUTE)
        presence.sweep()
        assert [one.user for one in Presence.objects.select_related("user")] == kept


def test_a_page_that_says_it_is_open_waits_for_an_act_on_its_case(stuck: Make, day: User, night: User) -> None:
    case = stuck()
    claim.claim(case.id, by=day)
    with transaction.atomic():
        claim.claim(case.id, by=night, why="it burns")
        other = threading.Thread(target=_said, args=(case, night))
        other.start()
        other.join(timeout=20)
        assert not other.is_alive(), "it waits until the act is written"
    assert Presence.objects.filter(user=night).count() == 1


def _said(case: Case, user: User) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '5s'")
    try:
        presence.note(case, user)
    finally:
        connection.close()

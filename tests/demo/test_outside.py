"""The outside services do their work and bring the trouble that their README promises."""

from __future__ import annotations

import smtplib
import uuid
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

import httpx
import pytest

from tests.demo.conftest import outside_services

Outside = dict[str, str]


@pytest.fixture
def web() -> Iterator[httpx.Client]:
    with httpx.Client(trust_env=False, timeout=10) as client:
        yield client


def event(attendee: str) -> bytes:
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//test//EN",
        "BEGIN:VEVENT",
        f"UID:{uuid.uuid4()}",
        "DTSTAMP:20300101T090000Z",
    ]
    lines += [
        "DTSTART:20300101T090000Z",
        f"ATTENDEE;ROLE=REQ-PARTICIPANT;CN=Somebody with a long name:m\r\n ailto:{attendee}",
    ]
    return "\r\n".join([*lines, "SUMMARY:Onboarding", "END:VEVENT", "END:VCALENDAR", ""]).encode()


def place(outside: Outside) -> str:
    return f"{outside['CALENDAR_URL']}/demo/onboarding/{uuid.uuid4()}.ics"


def test_the_crm_keeps_one_contact_per_key_and_lets_go_of_it_once_it_is_inactive(
    outside: Outside, web: httpx.Client
) -> None:
    contacts, key = f"{outside['CRM_URL']}/contacts", str(uuid.uuid4())
    body = {"email": "onboarding@acme.example", "reference": key}
    first = web.post(contacts, json=body, headers={"Idempotency-Key": key})
    assert (first.status_code, first.json()["email"]) == (201, body["email"])
    assert web.post(contacts, json=body, headers={"Idempotency-Key": key}).json() == first.json()
    assert web.post(contacts, json={**body, "x": 1}, headers={"Idempotency-Key": key}).status_code == 422
    assert web.get(contacts, params={"reference": key}).json()["items"] == [first.json()]
    here = f"{contacts}/{first.json()['id']}"
    assert web.post(f"{here}/activation", json={"reference": "a"}).json()["state"] == "active"
    assert web.delete(here).status_code == 409
    assert [web.delete(f"{here}/activation").status_code for _ in range(2)] == [200, 404]
    gone = [web.delete(here, headers={"Idempotency-Key": f"undo-{key}"}) for _ in range(2)]
    assert [answer.status_code for answer in gone] == [200, 200]
    assert web.delete(here).status_code == 404
    assert "CRM" in web.get(outside["CRM_URL"]).text


@pytest.mark.parametrize("domain", ["cobalt.example", "delta.example"])
def test_the_credit_check_refuses_some(domain: str, outside: Outside, web: httpx.Client) -> None:
    made = web.post(f"{outside['CRM_URL']}/contacts", json={"email": f"onboarding@{domain}"}).json()
    refused = web.post(f"{outside['CRM_URL']}/contacts/{made['id']}/activation", json={})
    assert (refused.status_code, "credit" in refused.text) == (422, True)
    assert web.get(f"{outside['CRM_URL']}/contacts/{made['id']}/activation").status_code == 404


def test_the_audience_tells_whose_mark_a_member_has(outside: Outside, web: httpx.Client) -> None:
    here = f"{outside['AUDIENCE_URL']}/audiences/onboarding/members/{uuid.uuid4()}"
    assert web.get(here).status_code == 404
    assert [web.put(here, json={"mark": mark}).status_code for mark in "ab"] == [201, 200]
    assert web.get(here).json()["mark"] == "b"
    assert [web.delete(here).status_code for _ in range(2)] == [204, 404]
    page = web.put(here, json={"email": "onboarding@gale.example"})
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html")
    assert web.get(here).json()["email"] == "onboarding@gale.example"


def test_the_calendar_books_and_drops_the_answer_for_bolt(outside: Outside, web: httpx.Client) -> None:
    here = place(outside)
    with pytest.raises(httpx.NetworkError):
        web.put(here, content=event("onboarding@bolt.example"), headers={"If-None-Match": "*"})
    found = web.get(here)
    assert (found.status_code, b"SUMMARY" in found.content) == (200, True)
    assert [web.delete(here).status_code for _ in range(2)] == [200, 404]


def test_the_calendar_refuses_to_delete_what_its_organiser_locked_until_they_unlock_it(
    outside: Outside, web: httpx.Client
) -> None:
    here = place(outside)
    made = web.put(here, content=event("onboarding@delta.example"), headers={"If-None-Match": "*"})
    again = web.put(here, content=event("onboarding@delta.example"), headers={"If-None-Match": "*"})
    assert (made.status_code, again.status_code) == (201, 412)
    refused = web.delete(here, headers={"If-Match": web.get(here).headers["etag"]})
    assert (refused.status_code, "locked by its organiser" in refused.text) == (403, True)
    assert web.get(here).status_code == 200
    unlocked = {"does": "allow", "customer": "@delta.example", "method": "DELETE"}
    assert web.post(f"{outside['CALENDAR_URL']}/_moods", json=unlocked).status_code == 200
    assert [web.delete(here).status_code for _ in range(2)] == [200, 404]


def test_mail_can_be_looked_up_by_message_id_also_where_the_server_hung_up(outside: Outside, web: httpx.Client) -> None:
    for domain, lost in (("acme.example", False), ("flint.example", True)):
        message = EmailMessage()
        message["From"], message["To"] = "desk@house.example", f"onboarding@{domain}"
        message["Subject"], message["Message-ID"] = "Welcome", f"<{uuid.uuid4()}@house.example>"
        message.set_content("Hello\n")
        with smtplib.SMTP(outside["MAKEGOOD_SMTP_HOST"], int(outside["MAKEGOOD_SMTP_PORT"]), timeout=10) as server:
            if lost:
                with pytest.raises(smtplib.SMTPServerDisconnected):
                    server.send_message(message)
            else:
                server.send_message(message)
        found = web.get(f"{outside['INBOX_URL']}/messages", params={"message_id": message["Message-ID"]}).json()[
            "items"
        ]
        assert [(m["to"], m["subject"], m["text"].strip()) for m in found] == [([message["To"]], "Welcome", "Hello")]
    assert "Welcome" in web.get(outside["INBOX_URL"]).text


def test_a_mood_is_met_by_its_customer_only_as_often_as_it_was_set(outside: Outside, web: httpx.Client) -> None:
    crm, name = outside["CRM_URL"], uuid.uuid4().hex
    for mood in (
        {"does": "stale", "method": "GET"},
        {"does": "malformed", "method": "GET"},
        {"does": "refuse", "method": "GET", "status": 503},
    ):
        assert web.post(f"{crm}/_moods", json={"customer": name, **mood}).status_code == 200
    here = f"{crm}/contacts/" + web.post(f"{crm}/contacts", json={"email": f"{name}@acme.example"}).json()["id"]
    other = f"{crm}/contacts/" + web.post(f"{crm}/contacts", json={"email": "other@acme.example"}).json()["id"]
    assert web.get(other).status_code == 200
    assert [web.get(here).status_code for _ in range(4)] == [503, 200, 404, 200]
    wrong = web.post(f"{crm}/_moods", json={"does": "explode"})
    assert (wrong.status_code, "explode" in wrong.text) == (400, True)


def test_they_end_with_their_pipe_and_come_back_with_what_they_held(tmp_path: Path, web: httpx.Client) -> None:
    with outside_services(tmp_path) as first:
        made = web.post(f"{first['CRM_URL']}/contacts", json={"email": "onboarding@acme.example"}).json()
    with pytest.raises(httpx.ConnectError):
        web.get(first["CRM_URL"])
    with outside_services(tmp_path) as second:
        assert web.get(f"{second['CRM_URL']}/contacts/{made['id']}").json() == made
    assert first.keys() == second.keys()
    assert oct((tmp_path / "outside.json").stat().st_mode)[-3:] == "600"

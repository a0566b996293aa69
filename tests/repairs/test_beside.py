"""What people write beside a case: facts apart from guesses, evidence that stays what it was, and who was told what."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from repairs.acts import claim, note
from repairs.acts.evidence import MOST_OF_A_TEXT
from repairs.models import Act, Case, Evidence, Person
from repairs.models.act import ActKind
from repairs.uploads import MOST_OF_A_FILE, MOST_OF_A_FORM, Bounded
from tests.repairs.previews import shown
from workflows.errors import Denied, NotFound, StaleFence
from workflows.models import Effect, Entry, Payload, Team

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
BYTES = b"%PDF-1.7 <script>alert(1)</script>\x00\xff"


def page_of(client: Client, case: Case) -> str:
    return client.get(f"/repairs/{case.number}/").content.decode()


def test_a_guess_counts_as_a_fact_or_is_judged_twice(stuck: Make, repairer: User, person: Make, browse: Make) -> None:
    case, client = stuck(), browse(repairer)
    at = f"/repairs/{case.number}"
    client.post(f"{at}/fact", {"text": "the desk removed the record at 9"})
    client.post(f"{at}/guess", {"text": "somebody  restored\nit"})
    guess = Act.objects.get(kind="guess")
    page = client.get(f"{at}/").context
    assert ([a.why for a in page["facts_noted"]], page["guesses"]) == (
        ["the desk removed the record at 9"], [(guess, None)],
    )  # fmt: skip
    other = person("night desk", "repairer")
    browse(other).post(f"{at}/guesses/{guess.id}", {"text": "their log says so", "how": "refute"})
    ((_, verdict),) = client.get(f"{at}/").context["guesses"]
    assert (verdict.kind, verdict.by, verdict.why) == ("refute", other, "their log says so")
    again = client.post(f"{at}/guesses/{guess.id}", {"text": "no, it was right", "how": "confirm"})
    assert (again.status_code, Act.objects.filter(answers=guess).count()) == (409, 1)
    assert "no, it was right" in again.content.decode(), "what was typed is lost"
    with pytest.raises(StaleFence):
        note.judge(case.id, guess.id, right=True, by=repairer, text="x", given=())
    assert [e.actor for e in Entry.objects.filter(subject_id=case.id, event__in=["fact", "guess", "refute"])] == [
        "person:repairer", "person:repairer", "person:night desk",
    ]  # fmt: skip


def test_a_guess_of_another_case_can_be_judged_through_this_one(stuck: Make, repairer: User, browse: Make) -> None:
    first, second = stuck(), stuck()
    note.note(first.id, kind=ActKind.GUESS, by=repairer, text="x")
    guess = Act.objects.get(kind="guess")
    answer = browse(repairer).post(f"/repairs/{second.number}/guesses/{guess.id}", {"text": "x", "how": "confirm"})
    assert (answer.status_code, Act.objects.count()) == (404, 1)


def test_a_form_that_says_neither_judges_a_guess(stuck: Make, repairer: User, browse: Make) -> None:
    case, client = stuck(), browse(repairer)
    note.note(case.id, kind=ActKind.GUESS, by=repairer, text="x")
    guess = Act.objects.get(kind="guess")
    for how in ({}, {"how": "perhaps"}):
        answer = client.post(f"/repairs/{case.number}/guesses/{guess.id}", {"text": "their log", **how})
        page = answer.content.decode()
        assert (answer.status_code, "is neither confirm nor refute" in page, "their log</textarea>" in page) == (
            400, True, True,
        )  # fmt: skip
    assert not Act.objects.filter(answers=guess).exists()


def test_a_button_pressed_twice_says_it_twice(
    stuck: Make, repairer: User, browse: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(note, "TWICE", dt.timedelta(hours=1))
    case, client = stuck(), browse(repairer)
    told = {"text": "we are at it", "whom": "their office", "how": "phone", "evidence": "at nine"}
    time = {"minutes": "20", "text": "on the phone"}
    for path, form in (("told", told), ("time", time)):
        for _ in range(2):
            assert client.post(f"/repairs/{case.number}/{path}", form).status_code == 302
    bank, at_ten = {"whom": "their bank"}, {"evidence": "at ten"}
    for other in (bank, {**bank, **at_ten}, at_ten):  # each unlike the one before in one thing
        client.post(f"/repairs/{case.number}/told", {**told, **other})
    assert Counter(Act.objects.values_list("kind", flat=True)) == {"told": 4, "correct_time": 1}
    monkeypatch.setattr(note, "TWICE", dt.timedelta(0))
    client.post(f"/repairs/{case.number}/told", {**told, "evidence": "at ten"})
    assert Act.objects.filter(kind="told").count() == 5, "later it is meant"


def test_two_guesses_judged_in_the_same_words_are_one_judgement(stuck: Make, repairer: User) -> None:
    case = stuck()
    for text in ("it was us", "it was them"):
        note.note(case.id, kind=ActKind.GUESS, by=repairer, text=text)
    for guess in Act.objects.filter(kind="guess"):
        note.judge(case.id, guess.id, right=False, by=repairer, text="their log says so", given=())
    assert Act.objects.filter(kind="refute").count() == 2


def test_somebody_without_the_role_writes_beside_a_case(stuck: Make, person: Make, browse: Make) -> None:
    case, reader = stuck(), person("reader", "manager")
    with pytest.raises(Denied):
        note.note(case.id, kind=ActKind.FACT, by=reader, text="x")
    assert browse(reader).post(f"/repairs/{case.number}/fact", {"text": "x"}).status_code == 403
    assert "Write down a fact" not in page_of(browse(reader), case)
    assert not Act.objects.exists()


def test_a_note_takes_the_case_from_who_holds_it(stuck: Make, repairer: User, person: Make) -> None:
    case, other = stuck(), person("night desk", "repairer")
    claim.claim(case.id, by=repairer)
    before = Case.objects.get(id=case.id)
    note.note(case.id, kind=ActKind.FACT, by=other, text="they rang me")
    after = Case.objects.get(id=case.id)
    assert (after.claimed_by, after.fence, after.lease_until) == (repairer, before.fence, before.lease_until)
    note.note(case.id, kind=ActKind.FACT, by=repairer, text="yes")
    assert Case.objects.filter(id=case.id, lease_until__gt=before.lease_until).exists()


def test_who_was_told_what_is_not_kept_or_half_of_it_is(stuck: Make, repairer: User, browse: Make) -> None:
    case, client = stuck(customer_visible=True), browse(repairer)
    at = f"/repairs/{case.number}"
    for form, says in (
        ({"text": "we are at it", "whom": " ", "how": "phone"}, "Say who was told."),
        ({"text": "we are at it", "whom": "\u200b\u202e", "how": "phone"}, "Say who was told."),
        ({"text": "we are at it", "whom": "their office", "how": "drum"}, "Say how they were told."),
        ({"text": " ", "whom": "their office", "how": "phone"}, "Say why, in a sentence."),
    ):
        answer = client.post(f"{at}/told", form)
        assert (answer.status_code, says in answer.content.decode()) == (400, True)
        assert form["text"] in answer.content.decode()
    assert not Act.objects.exists()
    client.post(f"{at}/told", {"text": "we are at it", "whom": "their office", "how": "phone"})
    page = client.get(f"{at}/").context
    assert [(a.why, a.facts["whom"], way) for a, way in page["tellings"]] == [
        ("we are at it", "their office", "by phone")
    ]
    assert page["must_tell"] == ["This still stands, and should not: A contact record stands in the CRM."]


def test_evidence_is_not_what_was_given_or_can_be_opened_as_anything_but_bytes(
    stuck: Make, repairer: User, browse: Make
) -> None:
    case, client = stuck(), browse(repairer)
    item = Effect.objects.get(state="stuck")
    form = {"effect": item.id, "seq": item.seq, "fence": case.fence, "why": "I saw it gone"}
    form["preview"] = shown(ActKind.FOUND, case, item.id, repairer)
    name = "bill\u202efdp.<b>exe"
    form |= {"evidence": "gone\r\n<i>really</i>", "file": SimpleUploadedFile(name, BYTES, content_type="text/html")}
    assert client.post(f"/repairs/{case.number}/found", form).status_code == 302
    act = Act.objects.get(kind="found")
    typed, file = Evidence.objects.order_by("size")
    assert (bytes(typed.content), bytes(file.content)) == (b"gone\n<i>really</i>", BYTES)
    assert [piece["sha256"] for piece in act.facts["evidence"]] == [
        hashlib.sha256(content).hexdigest() for content in (b"gone\n<i>really</i>", BYTES)
    ]
    entry = Entry.objects.get(subject_id=case.id, event="found")
    assert Payload.objects.get(entry_id=entry.id).data["evidence"] == [typed.sha256, file.sha256]

    answer = client.get(f"/repairs/{case.number}/evidence/{file.id}/file")
    assert answer.content == BYTES
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Disposition"].startswith("attachment; filename")
    assert "\u202e" not in answer["Content-Disposition"]
    assert "%E2%80%AE" not in answer["Content-Disposition"]
    for address in ("", f"evidence/{file.id}", f"evidence/{typed.id}"):
        page = client.get(f"/repairs/{case.number}/{address}").content.decode()
        assert "<b>exe" not in page
        assert "<i>really" not in page
        assert "<script>alert" not in page
        assert "\u202e" not in page
    assert "&lt;i&gt;really&lt;/i&gt;" in page


@pytest.mark.parametrize(
    ("size", "says"), [(0, "The file is empty"), (MOST_OF_A_FILE + 1, "has 1,048,577 bytes; at most 1,048,576")]
)
def test_a_file_of_no_use_is_kept_or_costs_what_was_typed(
    stuck: Make, repairer: User, browse: Make, size: int, says: str
) -> None:
    case, client = stuck(), browse(repairer)
    form = {"text": "the provider's page", "file": SimpleUploadedFile("page.png", b"x" * size)}
    answer = client.post(f"/repairs/{case.number}/fact", form)
    page = answer.content.decode()
    assert (answer.status_code, says in page, "the provider&#x27;s page</textarea>" in page) == (400, True, True)
    assert not Act.objects.exists()


def test_a_text_that_nobody_reads_to_its_end_is_kept(stuck: Make, repairer: User, browse: Make) -> None:
    case, client = stuck(), browse(repairer)
    form = {"text": "the provider's log", "evidence": "x" * (MOST_OF_A_TEXT + 1)}
    answer = client.post(f"/repairs/{case.number}/fact", form)
    assert (answer.status_code, "has 20,001 characters; at most 20,000" in answer.content.decode()) == (400, True)
    assert not Act.objects.exists()
    assert client.post(f"/repairs/{case.number}/fact", {**form, "evidence": "x" * MOST_OF_A_TEXT}).status_code == 302


def test_a_form_without_end_is_read_to_its_end(stuck: Make, repairer: User, browse: Make) -> None:
    case, client = stuck(), browse(repairer)
    answer = client.post(
        f"/repairs/{case.number}/fact",
        {"text": "x", "file": SimpleUploadedFile("a", b"x")},
        CONTENT_LENGTH=str(MOST_OF_A_FORM + 1),
    )
    assert (answer.status_code, Act.objects.count()) == (413, 0)


def test_evidence_can_be_changed(stuck: Make, repairer: User, browse: Make) -> None:
    case = stuck()
    browse(repairer).post(f"/repairs/{case.number}/fact", {"text": "x", "evidence": "y"})
    for statement in ("UPDATE repairs_evidence SET content = 'z'", "TRUNCATE repairs_evidence"):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


def test_what_was_noted_falls_out_of_sight_or_costs_statements(
    stuck: Make, repairer: User, browse: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("repairs.beside.LATEST", 3)
    case, client = stuck(), browse(repairer)
    note.note(case.id, kind=ActKind.FACT, by=repairer, text="the oldest of all")
    for _ in range(3):
        claim.claim(case.id, by=repairer)
        claim.release(case.id, by=repairer)
    client.get(f"/repairs/{case.number}/")
    with CaptureQueriesContext(connection) as seen:
        page = page_of(client, case)
    assert len(seen) <= 12
    assert len(re.findall("the oldest of all", page)) == 2, "in its block and in the history"


def test_evidence_is_shown_under_another_case_runs_or_hides_that_it_was_changed(
    stuck: Make, repairer: User, browse: Make, person: Make
) -> None:
    case, other, client = stuck(), stuck(), browse(repairer)
    long = SimpleUploadedFile("x" * 240 + ".png", b"y")
    client.post(f"/repairs/{case.number}/fact", {"text": "x", "file": long})
    piece = Evidence.objects.get()
    assert len(piece.name) == 200
    at = f"/repairs/{case.number}/evidence/{piece.id}"
    assert client.get(f"{at}/file")["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert client.get(at).context["same"] is True
    for end in ("", "/file"):
        assert client.get(f"/repairs/{other.number}/evidence/{piece.id}{end}").status_code == 404
    other_team = person("other-desk", "repairer")
    Person.objects.create(user=other_team).teams.add(Team.objects.create(name="elsewhere"))
    for end in ("", "/file"):
        assert browse(other_team).get(f"{at}{end}").status_code == 404
    changed = Evidence.objects.create(act=piece.act, name="a.txt", size=1, sha256="0" * 64, content=b"z")
    assert client.get(f"/repairs/{case.number}/evidence/{changed.id}").context["same"] is False


def test_what_is_no_guess_or_one_of_another_case_is_judged(stuck: Make, repairer: User) -> None:
    case, other = stuck(), stuck()
    note.note(case.id, kind=ActKind.FACT, by=repairer, text="it was removed")
    note.note(other.id, kind=ActKind.GUESS, by=repairer, text="somebody restored it")
    for act in Act.objects.all():
        with pytest.raises(NotFound):
            note.judge(case.id, act.id, right=True, by=repairer, text="x", given=())


def test_a_large_file_is_kept_in_memory_to_its_end() -> None:
    taken = Bounded()
    taken.new_file("file", "a", "text/plain", None, "utf-8")
    for _ in range(3):
        taken.receive_data_chunk(b"x" * (MOST_OF_A_FILE - 1), 0)
    whole = taken.file_complete(3 * (MOST_OF_A_FILE - 1))
    assert (len(whole.read()), whole.size) == (MOST_OF_A_FILE, 3 * (MOST_OF_A_FILE - 1))

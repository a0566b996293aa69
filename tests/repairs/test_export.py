"""Files of the rows behind lists: no text is a formula, nothing hidden, nothing cut in silence; raw is exact."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from repairs.export import forms, rows
from repairs.export.rows import Table
from repairs.models import Case
from repairs.site import site
from repairs.words.cells import TRIGGERS, cell
from workflows.models import Agent, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
HOSTILE = {
    "link": '=HYPERLINK("http://x","ok")',
    "tab": "\t@SUM(1)",
    "wide": " \uff1d1+1",
    "note": "-- see below",
    "line": "\r\n+1",
    "hidden": "\u200b\u202e=1",
    "minus": "\u22121+cmd",
    "semicolon": "fine;=1+1",
}


@pytest.fixture
def client(person: Make, browse: Make) -> Client:
    found: Client = browse(person("night desk", "repairer"))
    return found


def body(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, address
    return b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]


def table(client: Client, address: str) -> list[list[str]]:
    text = body(client, address)
    assert text.startswith("\ufeff"), "a spreadsheet takes it for another encoding"
    return list(csv.reader(io.StringIO(text[1:], newline="")))


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_d06_no_text_of_a_cell_is_a_formula(text: str) -> None:
    shown = str(cell(text))
    assert shown.strip()[0] not in TRIGGERS + "\uff1d\u2212"
    assert not any(part.strip().startswith(tuple("=+-@")) for part in shown.split(";"))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (-5, -5),
        (Decimal("-12.30"), Decimal("-12.30")),
        (None, ""),
        (True, "yes"),
        (dt.datetime(2026, 3, 10, 23, 0, tzinfo=dt.timezone(dt.timedelta(hours=8))), "2026-03-10 15:00:00"),
        ("a - b = c", "a - b = c"),
        ("pay \u202e001", "pay [U+202E]001"),
        ("a\u180bb\u180f", "a[U+180B]b[U+180F]"),
        ("ok" + " " * 300 + "rm", "ok [300 spaces] rm"),
        ("\u05e9\u05dc\u05d5\u05dd", "\u05e9\u05dc\u05d5\u05dd"),
    ],
)
def test_d07_numbers_stay_numbers_and_what_is_hidden_is_told(value: object, shown: object) -> None:
    assert cell(value) == shown
    assert type(cell(value)) is type(shown)


def test_d06_a_file_for_spreadsheets_is_tame_and_the_raw_one_exact(stuck: Make, client: Client) -> None:
    case = stuck()
    texts = list(HOSTILE.values())
    Run.objects.filter(id=case.run_id).update(subject_label=texts[1], external_id=texts[3])
    Agent.objects.update(name=texts[0])
    head, line, end = table(client, "/runs/export")
    got = dict(zip(head, line, strict=True))
    assert got["agent"] == "'" + texts[0]
    assert got["external id"] == "'-- see below"
    assert not any(value[:1] in TRIGGERS for value in line if value)
    form = "For spreadsheets: an apostrophe stands before what could be a formula. Times are in UTC."
    assert end == [f"End: 1 row, all there are. {form}"], "pages tell times in their viewer's zone"
    kept = [json.loads(one) for one in body(client, "/runs/export?form=jsonl").splitlines()]
    assert (kept[0]["agent"], kept[0]["subject"], kept[0]["external id"]) == (texts[0], texts[1], texts[3])
    began = Run.objects.get(id=case.run_id).created_at
    assert dt.datetime.fromisoformat(kept[0]["started"]) == began, "rounded"
    assert kept[1] == {"_end": {"form": "raw", "rows": 1, "cut": False}}


def test_d06_the_name_of_a_column_is_a_formula() -> None:
    odd = Table(name="odd", columns=("=1+1",), rows=Case.objects.none(), order=("id",), values=lambda row: ())
    assert next(forms.for_spreadsheets(odd)) == b'\xef\xbb\xbf"\'=1+1"\r\n'


def test_d06_money_is_a_number_and_several_currencies_are_never_added(stuck: Make, client: Client) -> None:
    stuck(), stuck()
    one, two = Case.objects.order_by("number")
    Case.objects.filter(id=one.id).update(value=[{"amount": -1230, "currency": "EUR"}])
    both = [{"amount": 5, "currency": "JPY"}, {"amount": 1255, "currency": "KWD"}]
    Case.objects.filter(id=two.id).update(value=both)
    text = body(client, "/repairs/export")
    assert ',-12.30,"EUR",' in text, "a number is quoted, so a spreadsheet takes it for text"
    assert ',"","","JPY 5, KWD 1.255",' in text, "one of two amounts stands for both"


def test_a_file_has_the_rows_of_its_list_in_their_order_and_is_named_for_what_it_is(
    stuck: Make, client: Client
) -> None:
    cases = [stuck() for _ in range(3)]
    page = client.get("/repairs/").context["rows"]
    assert [line[0] for line in table(client, "/repairs/export")[1:-1]] == [row.case.name for row in page]
    assert len(table(client, f"/repairs/export?q={cases[0].name}")) == 3
    assert len(table(client, "/repairs/export?view=mine")) == 2
    answer = client.get("/repairs/export")
    assert answer["Content-Disposition"].endswith('-for-spreadsheets.csv"')
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert client.get("/repairs/export?form=jsonl")["Content-Disposition"].endswith('-raw.jsonl"')
    assert client.get("/repairs/export?form=xml").status_code == 400
    assert client.get("/repairs/export?view=none").status_code == 404


def test_a_file_that_is_cut_says_so_and_reads_part_by_part(
    stuck: Make, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = {f"C-{stuck().number}" for _ in range(5)}
    monkeypatch.setattr(rows, "PART", 2)
    with CaptureQueriesContext(connection) as seen:
        found = [line[0] for line in table(client, "/repairs/export")[1:-1]]
    assert (set(found), len(found)) == (numbers, 5)
    assert not any('"input"' in q["sql"] or '"residue"' in q["sql"] for q in seen), "payloads are read for a list"
    assert any("LIMIT 3" in q["sql"] for q in seen)
    monkeypatch.setattr(rows, "MOST", 4)
    *_, end = table(client, "/repairs/export")
    assert end[0].startswith("End: the first 4 rows, there are more; narrow the list")
    last = json.loads(body(client, "/repairs/export?form=jsonl").splitlines()[-1])
    assert last == {"_end": {"form": "raw", "rows": 4, "cut": True}}


def test_every_record_s_list_is_a_file_too_and_tells_no_secret(stuck: Make, client: Client) -> None:
    stuck()
    for model in site._registry:
        base = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        lines = table(client, f"{base}export")
        assert lines[-1][0].startswith(f"End: {len(lines) - 2:,} row"), base
        assert not any(hidden in lines[0] for hidden in ("digest", "sealed", "password")), base
        assert 'href="export?' in client.get(base).content.decode()

"""Texts to customers that an operator brings: read whole at start, or nothing starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps

from config.house.errors import SetupError
from repairs import messages
from repairs.models import Case
from repairs.words.remedy_messages import MESSAGES

Make = Callable[..., Any]
LATE = "title: The refund takes longer\nsubject: On its way ({case})\ntext: |\n  Hello {customer},\n  {what}\n"


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Iterator[Path]:
    settings.MESSAGES = str(tmp_path)
    messages.messages.cache_clear()
    yield tmp_path
    messages.messages.cache_clear()


def test_an_operators_text_is_not_offered_or_takes_away_those_of_the_program(folder: Path) -> None:
    (folder / "refund-late.yaml").write_text(LATE)
    (folder / "looking.json").write_text('{"title": "Ours", "subject": "s", "text": "t"}')
    (folder / "notes.txt").write_text("no message")
    found = messages.messages()
    assert set(found) == {*MESSAGES, "refund-late"}
    assert (found["looking"].title, found["twice"]) == ("Ours", MESSAGES["twice"])


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("late.yaml", LATE.replace("{what}", "{amount}"), "{amount}' is no blank that is filled in"),
        ("late.yaml", LATE.replace("{what}", "{Customer}"), "{Customer}' is no blank that is filled in"),
        ("late.yaml", LATE.replace("{what}", "{ case }"), "{ case }' is no blank that is filled in"),
        ("late.yaml", LATE.replace("{what}", "{}"), "{}' is no blank that is filled in"),
        ("late.yaml", LATE + "to: somebody\n", "must hold exactly title, subject, text"),
        ("late.yaml", "- a list\n", "must hold exactly"),
        ("late.yaml", LATE.replace("The refund", "The\u202erefund"), "U+202E' is a character that can't be seen"),
        ("late.yaml", LATE.replace("On its way ({case})", '"a\\nb"'), "U+000A' is a character"),
        ("late.yaml", LATE.replace("The refund takes longer", "''"), "must be a text of 1 to 100 characters"),
        ("late.yaml", LATE.replace("The refund takes longer", "7"), "must be a text of 1 to 100 characters"),
        ("late.yaml", "title: a\ntitle: b\n", "title"),
        ("Late text.yaml", LATE, "must be named by at most 40 small letters"),
    ],
)
def test_a_text_that_cannot_be_read_lets_a_process_start(folder: Path, name: str, text: str, says: str) -> None:
    (folder / name).write_text(text)
    with pytest.raises(SetupError) as caught:
        apps.get_app_config("repairs").ready()
    assert says in str(caught.value)
    assert name in str(caught.value)
    assert "MAKEGOOD_MESSAGES" in str(caught.value)


def test_of_two_files_of_one_name_one_is_dropped_in_silence(folder: Path) -> None:
    for name in ("late.yaml", "late.yml"):
        (folder / name).write_text(LATE)
    with pytest.raises(SetupError, match=r"late\.yml.*name of another file"):
        messages.messages()


def test_a_folder_that_is_not_there_counts_as_none(folder: Path) -> None:
    with pytest.raises(SetupError, match="must name a folder"):
        messages.brought(str(folder / "nothing"))
    assert messages.brought("") == {}


@pytest.mark.django_db(transaction=True)
def test_a_remedy_cannot_begin_from_an_operators_text(
    folder: Path, stuck: Make, person: Make, browse: Make, tool: Make
) -> None:
    (folder / "refund-late.yaml").write_text(LATE)
    case: Case = stuck()
    note = tool("desk.note")
    note.spec["arguments"] = {
        "type": "object",
        "properties": {"subject": {"type": "string"}, "text": {"type": "string"}},
    }
    note.save()
    desk, at = browse(person("repairer", "repairer")), f"/repairs/{case.number}/remedy?tool=desk.note&makes_good=run"
    assert '<option value="refund-late">The refund takes longer</option>' in desk.get(at).content.decode()
    page = desk.get(f"{at}&message=refund-late").content.decode()
    assert f'value="On its way ({case.name})"' in page
    assert "Hello Customer" in page

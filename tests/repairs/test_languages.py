"""The console in another language: a catalogue that an operator puts in is used on pages, and nowhere else."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import translation

from config.languages import languages
from repairs.bulk import running
from repairs.models import Case
from tests.repairs.batches.making import asked, of_cause, said
from workflows.authority import keys
from workflows.models import Agent

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
GERMAN = {
    "Repairs": "Reparaturen",
    "Log out": "Abmelden",
    "stuck": "steckt fest",
    "Only a person can go on.": "Nur ein Mensch kommt hier weiter.",
    "There is no such page": "Diese Seite gibt es nicht",
    "In time": "Im Verlauf",
    "It is not as it was when you chose it; read it anew.": "Er hat sich geändert; bitte neu lesen.",
}


def compiled(texts: dict[str, str]) -> bytes:
    """A catalogue as msgfmt makes it, so that the test needs no GNU gettext."""
    pairs = sorted({"": "Content-Type: text/plain; charset=UTF-8\n", **texts}.items())
    keys_, values = [[text.encode() + b"\0" for text in side] for side in zip(*pairs, strict=True)]
    start = 28 + 16 * len(pairs)
    table, data = b"", b""
    for side in (keys_, values):
        for text in side:
            table += struct.pack("<II", len(text) - 1, start + len(data))
            data += text
    return struct.pack("<7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, start) + table + data


@pytest.fixture
def german(tmp_path: Path, settings: Any) -> Iterator[None]:
    place = tmp_path / "de" / "LC_MESSAGES"
    place.mkdir(parents=True)
    (place / "django.mo").write_bytes(compiled(GERMAN))
    settings.LOCALE_PATHS = [tmp_path]
    settings.LANGUAGES = languages(tmp_path)
    yield
    translation.activate("en")


def test_a_catalogue_is_put_in_and_pages_stay_english(german: None, stuck: Make, person: Make, browse: Make) -> None:
    run, client = stuck().run, browse(person("repairer", "repairer"))
    page = client.get(f"/runs/{run.id}/", headers={"accept-language": "de-AT,de;q=0.9"}).content.decode()
    for text in ('<html lang="de">', "Reparaturen", "Abmelden", "steckt fest", "Nur ein Mensch", "Im Verlauf"):
        assert text in page, text
    assert "Would perform" in page, "what isn't translated stays as it is"
    lost = client.get("/nowhere/", headers={"accept-language": "de"}).content.decode()
    assert "Diese Seite gibt es nicht" in lost
    assert '<html lang="en">' in client.get("/", headers={"accept-language": "fr"}).content.decode()


def test_numbers_of_a_drawing_take_the_readers_comma(german: None, stuck: Make, person: Make, browse: Make) -> None:
    run, client = stuck().run, browse(person("repairer", "repairer"))
    page = client.get(f"/runs/{run.id}/time", headers={"accept-language": "de"}).content.decode()
    drawn = page[page.index('<svg class="lanes"') : page.index("</section>")]
    assert 'cx="' in drawn
    assert not [part for part in drawn.split('"') if part.replace(",", "").isdigit() and "," in part]


def test_a_program_is_answered_in_another_language(german: None) -> None:
    agent = Agent.objects.create(name="a", tools=["*"], workflows=["*"])
    key = keys.new_key(agent, by="command", why="a test")
    for given in ("", key):
        asked = {"authorization": f"Bearer {given}"} if given else {}
        english = Client().get("/api/v1/runs/none", headers=asked)
        other = Client().get("/api/v1/runs/none", headers={**asked, "accept-language": "de"})
        assert other.content == english.content
        wrong = Client().delete("/api/v1/runs", headers={**asked, "accept-language": "de"})
        assert "Methode" not in wrong.content.decode(), "the library's own words"
        assert "Accept-Language" not in other.get("Vary", "")
        assert "Content-Language" not in other


def test_only_a_language_with_a_catalogue_of_ours_is_offered(tmp_path: Path) -> None:
    (tmp_path / "fr" / "LC_MESSAGES").mkdir(parents=True)
    assert languages(tmp_path) == [("en", "English")]
    (tmp_path / "pt_BR" / "LC_MESSAGES").mkdir(parents=True)
    (tmp_path / "pt_BR" / "LC_MESSAGES" / "django.mo").write_bytes(compiled({}))
    assert [code for code, _ in languages(tmp_path)] == ["en", "pt-br"]


@pytest.mark.skipif(shutil.which("xgettext") is None, reason="no GNU gettext: apt install gettext")
def test_a_marked_text_is_not_found_for_translators(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("templates/console/_bar.html", "repairs/words/marks.py", "repairs/views/errors.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(configured.BASE_DIR / name, tmp_path / name)
    (tmp_path / "locale").mkdir()
    settings.LOCALE_PATHS = [tmp_path / "locale"]
    monkeypatch.chdir(tmp_path)
    call_command("makemessages", locale=["de"], verbosity=0)
    found = (tmp_path / "locale/de/LC_MESSAGES/django.po").read_text()
    texts = ("Repairs", "compensated with residue", "It needs a person.", "There is no such page")
    for text in (*texts, "Read the provider's words in the last send."):  # the last one of a runbook
        assert f'msgid "{text}"' in found, text
    assert not list(tmp_path.glob("*.py")), "what runbooks say was left behind"


def test_a_stored_line_that_is_in_no_catalogue_is_english_without_saying_so(
    german: None, stuck: Make, repairer: User, browse: Make
) -> None:
    looked, changed = stuck(), stuck()
    batch = asked(of_cause(repairer), repairer)
    Case.objects.filter(id=changed.id).update(seq=99)
    running.run()
    address, browser = f"/repairs/batches/{batch.id}/", browse(repairer)
    german_page = browser.get(address, headers={"accept-language": "de"}).content.decode()
    assert f'<span lang="en"><bdi>{said(batch, looked)}</bdi></span>' in german_page
    assert "<span><bdi>Er hat sich geändert; bitte neu lesen.</bdi></span>" in german_page
    assert 'lang="en"><bdi>It is not' not in browser.get(address).content.decode()

"""Every page in a language that marks what was translated: what stands outside of the marks is always English."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import resolve

from repairs.models import Case
from tests.browser.test_pages import addresses, furnished
from tests.repairs.pseudo import pseudo
from workflows.models import Effect

__all__ = ["furnished", "pseudo"]
pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]

VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])
UNSEEN = frozenset({"script", "style", "textarea"})  # a text field holds what somebody typed
DATA = frozenset({"bdi", "code", "time", "pre", "kbd"})
DATA_CLASSES = frozenset({"id", "money"})
SAID = ("title", "aria-label", "placeholder", "alt", "data-label")
# Names that we give, and signs of units and versions: the same in every language.
OWN = re.compile(r"\b(?:Makegood|UTC|[CB]-\d+|v\d+|\d+ (?:d|h|min|s|ms)|sha256|JSON|MB|[\d.,:+–-]+)\b")
WORD = re.compile(r"[^\W\d_]{2,}")
VALUE = re.compile(r"⟨[^⟨⟩⟦⟧]*⟩")
SENTENCE = 5  # words: a value of that many that isn't isolated is a text of ours that was put in untranslated


class Reader(HTMLParser):
    """Reads a page as a person does; `english` is what was neither translated nor is data."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.path: list[tuple[str, bool, bool]] = []  # elements, and whether each holds data, or a record in English
        self.depth = 0
        self.data: list[str] = []
        self.loose: list[str] = []  # texts that are data only if the page has them as data
        self.isolated: list[str] = []  # sentences that somebody else wrote, or that were stored
        self.english: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        of_data = tag in DATA or bool(DATA_CLASSES & set(given.get("class", "").split()))
        record = given.get("lang") == "en" or tag == "pre"  # a text in lines of its own is shown as it is kept
        if tag == "option" and given.get("value"):
            self.data.append(given["value"])
        if tag not in VOID:
            _, data, recorded = self.path[-1] if self.path else ("", False, False)
            of_data = of_data or record or given.get("translate") == "no" or data
            self.path.append((tag, of_data, record or recorded))
        if tag != "html" and not of_data:
            self.loose += [given[name] for name in SAID if given.get(name)]

    def handle_endtag(self, tag: str) -> None:
        while self.path:
            if self.path.pop()[0] == tag:
                break

    def handle_data(self, text: str) -> None:
        tag, data, record = self.path[-1] if self.path else ("", False, False)
        if tag in UNSEEN:
            return
        if data:
            self.data.append(text)
            sentence = tag == "bdi" and "⟦" not in text and len(WORD.findall(text)) >= SENTENCE
            self.isolated += [text] if sentence and not record else []
        elif tag in ("title", "option"):
            self.loose += text.split(" · ")
        else:
            self.sentence(text)

    def sentence(self, text: str) -> None:
        outside = []
        for part in re.split("([⟦⟧])", text):
            if part in ("⟦", "⟧"):
                self.depth += 1 if part == "⟦" else -1
            elif self.depth == 0 and WORD.search(OWN.sub("", part)):
                outside.append(part)
        outside += [value for value in VALUE.findall(text) if len(WORD.findall(value)) >= SENTENCE]
        self.english += [" ".join(part.split()) for part in outside]

    def close(self) -> None:
        super().close()
        assert self.depth == 0, "a mark is opened and never closed"
        known = " ".join(self.data)
        for text in self.loose:
            whole = text.strip().rstrip("…")
            own = OWN.sub("", whole)
            if "⟦" not in text and WORD.search(own) and whole not in known and own.strip() not in known:
                self.english.append(text)


def read(page: str, stored: str) -> list[str]:
    reader = Reader()
    reader.feed(page)
    reader.close()
    ours = [text for text in reader.isolated if plain(text) not in stored]
    return list(dict.fromkeys(reader.english + ours))


def plain(text: str) -> str:
    """As it can be found again among all that is stored, which quotes differently."""
    return re.sub(r'["\\…]', "", text)


def all_that_is_stored() -> str:
    tables = [model._meta.db_table for model in apps.get_models()]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(f'SELECT string_agg(t::text, chr(10)) FROM "{name}" t' for name in tables))
        return plain("\n".join(text for (text,) in cursor.fetchall() if text))


def of_page(address: str) -> str:
    """The name of its address; all lists and records are of two templates."""
    found = resolve(address.partition("?")[0])
    return "records" if re.search("_(changelist|change)$", found.url_name or "") else found.url_name or address


@pytest.fixture
def walked(furnished: dict[str, Any], repairer: User, pseudo: str) -> Iterator[tuple[str, str]]:
    """(address, page) of all pages, and of every case and effect there is."""
    client = Client(headers={"accept-language": pseudo})
    client.force_login(repairer, backend="django.contrib.auth.backends.ModelBackend")
    more = [f"/repairs/{number}/" for number in Case.objects.values_list("number", flat=True)]
    more += [f"/runs/{run}/effects/{effect}" for run, effect in Effect.objects.values_list("run_id", "id")]

    def pages() -> Iterator[tuple[str, str]]:
        for address in dict.fromkeys([*addresses(furnished), *more]):
            answer = client.get(address)
            if answer.status_code == 200 and "text/html" in answer["Content-Type"] and b"<html" in answer.content:
                yield address, answer.content.decode()

    return pages()


def test_a_page_says_something_that_cannot_be_translated(walked: Iterator[tuple[str, str]]) -> None:
    found: dict[str, dict[str, str]] = {}
    stored = ""
    for address, page in walked:
        stored = stored or all_that_is_stored()
        found.setdefault(of_page(address), {}).update(dict.fromkeys(read(page, stored), address))
    assert len(found) > 30
    wrong = {name: texts for name, texts in found.items() if texts}
    assert not wrong, "\n".join(
        f"{name}: {text!r} ({at})" for name, texts in wrong.items() for text, at in texts.items()
    )


REFUSED = {
    "snooze": {"cause": "customer", "until": "yesterday", "why": "they call", "fence": "0"},
    "escalate": {"to": "no-such-desk", "why": "nobody answers"},
    "hand-over/send": {"to": "nobody", "severity": "odd", "situation": "", "contingency": "call them"},
    "told": {"whom": "", "how": "drums", "text": "all of it"},
    "time": {"minutes": "many", "text": "too few"},
    "make-good": {"tool": "no.tool", "why": "a refund", "fence": "0"},
    "write-off": {"how": "propose", "why": "let it be", "fence": "9", "seq": "x"},
}


def test_a_refusal_is_english_or_a_sentence_is_stored_in_another_language(
    scene: dict[str, Any], repairer: User, pseudo: str
) -> None:
    client = Client(headers={"accept-language": pseudo})
    client.force_login(repairer, backend="django.contrib.auth.backends.ModelBackend")
    for act, form in REFUSED.items():
        answer = client.post(f"/repairs/{scene['case'].number}/{act}", form)
        assert answer.status_code in (400, 404, 409), act
        page, stored = answer.content.decode(), all_that_is_stored()
        assert page.count("⟦") > 20, act
        assert read(page, stored) == [], act
        assert "⟦" not in stored, f"{act} wrote it down as the page said it"
    done = client.post(f"/repairs/{scene['case'].number}/claim", {"fence": "0"}, follow=True)
    assert f"⟦⟨{scene['case'].name}⟩ is yours for 15 min.⟧" in done.content.decode()
    assert "⟦" not in all_that_is_stored()


def test_the_reader_of_these_tests_passes_over_english() -> None:
    page = (
        "<html lang='eo'><title>⟦Home⟧ · Harper · Makegood</title><p>⟦First ask ⟨<bdi>Harper</bdi>⟩ to look⟧ C-7</p>"
        "<p title='Plain words'>Bare <b>words</b> 3 min</p><p>⟦It ⟨is known to all of you now⟩⟧</p>"
        "<p lang='en'>A record</p><option value='desk'>desk</option><option value='2'>two of them</option>"
        "<bdi>A record of theirs is here</bdi><bdi>A sentence of ours is here</bdi></html>"
    )
    assert sorted(read(page, "A record of theirs is here now")) == [
        "A sentence of ours is here",
        "Bare",
        "Plain words",
        "two of them",
        "words",
        "⟨is known to all of you now⟩",
    ]

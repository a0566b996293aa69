"""Sentences of ours with values in them: English where they are kept, in the reader's language where they are shown."""

from __future__ import annotations

import ast
import copy
import json
import pickle
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings as configured
from django.template import Context, Template
from django.utils import translation

from repairs.words.marked import Phrase, _, listed, ngettext, said
from tests.repairs.pseudo import pseudo

__all__ = ["pseudo"]
HOSTILE = "</b><img src=x>{what}%(who)s\u202e"


def waits(owner: str) -> Phrase:
    return _("First ask {owner} to {what}.", owner=owner, what=_("mend the tool"))


@pytest.fixture
def elsewhere(pseudo: str) -> Iterator[None]:
    with translation.override(pseudo):
        yield


def shown(template: str, **values: Any) -> str:
    return Template("{% load console i18n %}" + template).render(Context(values))


def test_a_phrase_is_kept_or_compared_in_the_readers_language(elsewhere: None) -> None:
    phrase, english = waits("crm-desk"), "First ask crm-desk to mend the tool."
    assert phrase == english
    assert json.loads(json.dumps({"why": phrase})) == {"why": english}
    assert f"{phrase}" == str(phrase) == english
    assert str(ValueError(phrase)) == english
    for same in (copy.deepcopy(phrase), pickle.loads(pickle.dumps(phrase))):
        assert (same, said(same)) == (english, said(phrase))


@pytest.mark.parametrize(
    "template",
    [
        "{{ x }}",
        "{{ x|inert:400 }}",
        "{{ x|inert_text }}",
        '<p title="{{ x }}">',
        "{{ x|translated }}",
        "{{ x|capital }}",
    ],
)
def test_a_page_shows_a_phrase_in_english(elsewhere: None, template: str) -> None:
    assert "⟦First ask ⟨crm-desk⟩ to ⟨⟦mend the tool⟧⟩.⟧" in shown(template, x=waits("crm-desk"))


def test_a_stored_text_of_ours_stays_english(elsewhere: None) -> None:
    assert shown("{{ x|translated }}", x="Nothing of it is outside.") == "⟦Nothing of it is outside.⟧"
    assert shown("{{ x|translated }}", x="") == ""


def test_a_foreign_value_gets_out_of_its_sentence(elsewhere: None) -> None:
    for template in (
        "{{ x }}",
        "{{ x|inert:400 }}",
        '<p title="{{ x }}">',
        "{% blocktranslate %}{{ x }}{% endblocktranslate %}",
    ):
        page = shown(template, x=waits(HOSTILE))
        assert "<img" not in page
        assert "{what}%(who)s" in page, "blanks in a value are filled in"
    assert '<span class="hidden-char">' in shown("{{ x|inert:400 }}", x=waits(HOSTILE))


@pytest.mark.parametrize(
    "broken",
    ["Frag {besitzer}", "Frag {", "Frag {0}", "Frag {owner.x}", "Frag {owner!z}", "{owner:d}", "Frag.", "{owner}?"],
)
def test_a_translators_mistake_breaks_a_page(elsewhere: None, broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.repairs.pseudo.Pseudo.gettext", lambda self, text: broken)
    assert said(waits("crm-desk")) == "First ask crm-desk to mend the tool."


def test_a_number_takes_the_wrong_form(elsewhere: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def of(count: int) -> Phrase:
        return ngettext("{count:,} effect waits", "{count:,} effects wait", count)

    assert [str(of(n)) for n in (0, 1, 2000)] == ["0 effects wait", "1 effect waits", "2,000 effects wait"]
    assert said(of(2000)) == "⟦⟨2,000⟩ effects wait⟧"
    monkeypatch.setattr(  # three forms, as Slavic languages have
        "tests.repairs.pseudo.Pseudo.ngettext", lambda self, one, many, n: f"{{count}} {'abc'[min(n, 3) - 1]}"
    )
    assert [said(of(n)) for n in (1, 2, 5)] == ["1 a", "2 b", "5 c"]


def test_a_list_of_phrases_is_english(elsewhere: None) -> None:
    assert listed([]) == ""
    both = listed([_("seen"), _("gone"), "b{x}"])
    assert (str(both), said(both)) == ("seen, gone, b{x}", "⟦⟨⟦⟨⟦seen⟧⟩, ⟨⟦gone⟧⟩⟧⟩, ⟨b{x}⟩⟧")


def test_a_kept_phrase_is_filled_in_later(elsewhere: None) -> None:
    assert said(_("Claim {count}").given(count=3)) == "⟦Claim ⟨3⟩⟧"


def test_english_costs_a_reader_anything() -> None:
    assert shown("{{ x }}", x=waits("crm-desk")) == "First ask crm-desk to mend the tool."


def test_translators_tools_miss_a_text() -> None:
    """xgettext reads literals only: a marked text that is put together, or an f-string, it passes over in silence."""
    wrong = []
    for folder in ("repairs", "config", "workflows"):
        for path in (configured.BASE_DIR / folder).rglob("*.py"):
            if path.name == "marked.py":
                continue
            for call in ast.walk(ast.parse(path.read_text())):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in MARKS:
                    texts = call.args[: MARKS[call.func.id]]
                    if not texts or not all(isinstance(t, ast.Constant) and isinstance(t.value, str) for t in texts):
                        wrong.append(f"{path.name}:{call.lineno}")
    assert wrong == []


MARKS = {"_": 1, "ngettext": 2}

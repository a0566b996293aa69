"""A language in which every text that can be translated says so: ⟦like this⟧, with its values as ⟨this⟩."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.utils.translation import trans_real

CODE = "eo"  # one that Django knows; its own words count as translated too
BLANKS = re.compile(r"%\(\w+\)s|\{\w+(?::[^{}]*)?\}")


class Pseudo:
    def gettext(self, text: str) -> str:
        own = text.rpartition("\x04")[2]  # without its context
        return f"⟦{BLANKS.sub(lambda blank: f'⟨{blank[0]}⟩', own)}⟧"

    def ngettext(self, one: str, many: str, count: int) -> str:
        return self.gettext(one if count == 1 else many)

    def to_language(self) -> str:
        return CODE


@pytest.fixture
def pseudo(settings: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """Pages are in it for whoever's browser asks for the code that this gives."""
    settings.LANGUAGES = [("en", "English"), (CODE, "pseudo")]
    monkeypatch.setitem(trans_real._translations, CODE, Pseudo())  # type: ignore[attr-defined]
    return CODE

"""The languages of the console: English, and each that an operator has put a compiled catalogue for into `locale/`."""

from __future__ import annotations

from pathlib import Path

from django.conf.locale import LANG_INFO
from django.http import HttpRequest, HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.utils import translation

MACHINES = ("/api/", "/health/")  # programs read these; their words don't change with who asks


def languages(folder: Path) -> list[tuple[str, str]]:
    """Codes with each language's own name. Without a catalogue of ours a page would be half of Django's words."""
    codes = sorted(translation.to_language(found.parts[-3]) for found in folder.glob("*/LC_MESSAGES/django.mo"))
    return [("en", "English"), *((code, named(code)) for code in codes if code != "en")]


def named(code: str) -> str:
    return str(LANG_INFO.get(code, {}).get("name_local", code))


class Language(LocaleMiddleware):
    """Pages in the language that the reader's browser asks for, if there is one; all else in English."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path_info.startswith(MACHINES):
            translation.activate("en")
        else:
            super().process_request(request)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if request.path_info.startswith(MACHINES):
            return response
        return super().process_response(request, response)

"""Gives each request its viewer's zone: what `desk_of` says in it ends with it."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from repairs.words import clock


class ZoneOfRequest:
    def __init__(self, answer: Callable[[HttpRequest], HttpResponse]) -> None:
        self.answer = answer

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with clock.only_here():
            return self.answer(request)

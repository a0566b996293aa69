"""Downloads of the rows behind queue, runs and a run's ledger. The address is the list's own, with what narrows it."""

from __future__ import annotations

import uuid

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from repairs.export import tables
from repairs.export.download import download
from repairs.views import queue, runs
from repairs.views.run_head import find
from repairs.views.screen import screen


@screen
def cases(request: HttpRequest) -> HttpResponse:
    at = timezone.now()
    rows, order = queue.chosen(request, request.GET, at)
    answer: HttpResponse = download(request, tables.of_cases(rows, tuple(order), at))
    return answer


@screen
def all_runs(request: HttpRequest) -> HttpResponse:
    answer: HttpResponse = download(request, tables.of_runs(runs.chosen_rows(request, runs.chosen_of(request))))
    return answer


@screen
def of_run(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    answer: HttpResponse = download(request, tables.of_ledger(find(request, run_id)))
    return answer

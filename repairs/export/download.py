"""Answers a request with a table as a file, in the form that its address asks for. Used by views and records."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, StreamingHttpResponse
from django.utils import timezone

from repairs.export import forms
from repairs.export.rows import Table

# By the name that an address has: its words in the file's name, what the file is, and what makes it.
FORMS: dict[str, tuple[str, str, Any]] = {
    "csv": ("for-spreadsheets.csv", "text/csv; charset=utf-8; header=present", forms.for_spreadsheets),
    "jsonl": ("raw.jsonl", "application/jsonl", forms.raw),
}


def download(request: HttpRequest, table: Table) -> Any:
    """`?form=csv`, which is meant where nothing is said, or `jsonl`."""
    form = request.GET.get("form", "csv")
    if form not in FORMS:
        raise SuspiciousOperation(f"There are the forms {' and '.join(FORMS)}.")
    ending, kind, write = FORMS[form]
    made = timezone.now().strftime("%Y%m%dT%H%MZ")
    answer = StreamingHttpResponse(write(table), content_type=kind)
    answer.headers["Content-Disposition"] = f'attachment; filename="makegood-{table.name}-{made}-{ending}"'
    answer.headers["X-Content-Type-Options"] = "nosniff"
    return answer

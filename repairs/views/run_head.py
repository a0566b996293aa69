"""What the pages of one run share: how the run is found, and what stands above each of them."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import HttpRequest

from repairs import reading
from repairs.scope import one, visible
from repairs.views.screen import at_desk
from repairs.words.marked import _
from workflows.models import Run

TABS = (
    ("plan", "run", _("Plan and effects")),
    ("time", "run-time", _("In time")),
    ("journal", "run-journal", _("Journal")),
)


def find(request: HttpRequest, run_id: uuid.UUID) -> Run:
    return one(visible(at_desk(request), Run).select_related("agent", "workflow"), id=run_id)


def head(run: Run, tab: str) -> dict[str, Any]:
    return {"run": run, "subject": reading.subject_of(run), "tabs": TABS, "tab": tab}

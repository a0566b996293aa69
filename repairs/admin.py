"""Puts the records on our AdminSite: those of the workflows, and the repairs' own. Imported by the address map."""

from __future__ import annotations

from repairs.models import Act, Batch, BatchItem, Case, Evidence, Glass, PersonAct, Remark, Worked
from repairs.records import Records
from repairs.site import site
from workflows.admin import RECORDS, Shown

OWN = (
    Shown(
        model=Case,
        columns=("number", "state", "sentence", "owner", "opened_at", "closed_at"),
        order=("-number",),
        narrow=("run_id",),
    ),
    Shown(model=Act, columns=("id", "case_id", "kind", "by_id", "why", "outcome", "at"), narrow=("case_id", "by_id")),
    Shown(model=Evidence, columns=("id", "act_id", "name", "size", "sha256"), narrow=("act_id",), secret=("content",)),
    Shown(
        model=Batch,
        columns=("number", "act", "state", "count", "by_id", "why", "asked_at"),
        order=("-number",),
        narrow=("by_id",),
    ),
    Shown(
        model=BatchItem, columns=("id", "batch_id", "case_id", "state", "said", "at"), narrow=("batch_id", "case_id")
    ),
    Shown(model=Worked, columns=("id", "case_id", "user_id", "began", "until"), narrow=("case_id",)),
    Shown(model=Glass, columns=("id", "what", "said", "by_id", "why", "at", "due_at", "verdict")),
    Shown(model=Remark, columns=("id", "approval_id", "kind", "by_id", "words", "at"), narrow=("approval_id",)),
    Shown(model=PersonAct, columns=("id", "login", "what", "by", "why", "at"), narrow=("login",)),
)

for one in (*RECORDS, *OWN):
    site.register(one.model, type(f"{one.model.__name__}Records", (Records,), {"shown": one}))

"""The one seam upward: who keeps cases listens here. Sent inside the transaction that changed the runs."""

from __future__ import annotations

from django.dispatch import Signal

# runs: list[Run], each with needs_person and people_reasons as just written.
runs_need_people = Signal()

# run_ids: list[UUID]; each receiver returns {run_id: [case, …]} with cases as the API shows them.
cases_of_runs = Signal()

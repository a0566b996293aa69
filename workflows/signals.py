"""The one seam upward: who keeps cases and tells people listens here. Sent inside the transaction of what they say."""

from __future__ import annotations

from django.dispatch import Signal

# runs: list[Run], each with needs_person and people_reasons as just written.
runs_need_people = Signal()

# approvals: list[Approval], just asked for.
people_asked = Signal()

# thing: a Credential that was lost, a Stop of everything, a BudgetChange that waits for a second person, or an Approval
# that ran out undecided for the last time.
people_should_know = Signal()

# thing: the Stop, Policy, BudgetChange or Approval that one person did alone what takes two of; by: the actor; why.
glass_broken = Signal()

# The minute's sweep is done with the engine's own work. In no transaction.
swept = Signal()

# run_ids: list[UUID]; each receiver returns {run_id: [case, …]} with cases as the API shows them.
cases_of_runs = Signal()

# workflows: {name: spec}, tools: {name: (version, spec)}; each receiver returns sentences about what nothing covers, as
# (workflow, step, sentence).
gaps_of_workflows = Signal()

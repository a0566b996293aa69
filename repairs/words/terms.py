"""The contract's own short words as pages show them. Kept in English everywhere else; marked here for translators."""

from __future__ import annotations

from repairs.words.marked import _

# What policy says at the door, as `workflows.authority` writes it.
DECISIONS = {"allow": _("allow"), "ask": _("ask"), "deny": _("deny")}

# States of a version of the policy.
POLICY = {"draft": _("draft"), "active": _("active"), "discarded": _("discarded")}

# What one look showed: `workflows.outcomes.Verdict`.
VERDICTS = {
    "found": _("found"),
    "absent": _("absent"),
    "differs": _("differs"),
    "several": _("several"),
    "inconclusive": _("inconclusive"),
}

# How a send ended: outcomes of `workflows.outcomes`.
OUTCOMES = (_("acknowledged"), _("pending"), _("refused"), _("not_sent"), _("unknown"), _("in_flight"))

# Phases of runs, and the lanes of a run in time.
PHASES = (_("open"), _("running"), _("unwinding"), _("over"))
LANES = (_("effect"), _("send"), _("look"), _("approval"), _("person"))

# What a stop holds: `workflows.models.stop.Target`.
TARGETS = {
    "tool": _("tool"),
    "agent": _("agent"),
    "workflow": _("workflow"),
    "subject": _("subject"),
    "everything": _("everything"),
}

# The same, and what has a budget, with its name.
NAMED = {
    "tool": _("tool {name}"),
    "agent": _("agent {name}"),
    "workflow": _("workflow {name}"),
    "subject": _("subject {name}"),
    "run": _("run {name}"),
}


def on(kind: str, name: str) -> str:
    """What a stop holds, or a budget is of: "tool crm.create", "everything"."""
    return NAMED[kind].given(name=name) if name else TARGETS["everything"]


# How long a key of an agent may live, and how long the old one opens beside a new one.
SPANS = (_("never"), _("1h"), _("24h"), _("7d"), _("30d"), _("90d"), _("365d"))

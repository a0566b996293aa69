"""Asks a draft what past decisions would have been under it, and keeps the difference list with the draft."""

from __future__ import annotations

import dataclasses
import uuid
from collections import Counter
from collections.abc import Iterable
from typing import Any

from django.db import transaction

from workflows import rows
from workflows.authority import grants, policies, policy
from workflows.models import Decision, Policy, Run, Tool
from workflows.models.policy import DRAFT

MOST_DECISIONS = 1000  # the latest: a policy is changed for what happens now
MOST_LISTED = 200
STRICTNESS = (policy.ALLOW, policy.ASK, policy.DENY)


@dataclasses.dataclass(slots=True)
class DryRun:
    """`asked`: decisions that could be asked again; `unreadable`: older ones, or whose rows are gone; `differences`:
    the latest first, at most 200; `counts`: all of them, as {"allow to ask": 3}."""

    asked: int = 0
    unreadable: int = 0
    counts: dict[str, int] = dataclasses.field(default_factory=dict)
    stricter: int = 0
    looser: int = 0
    differences: list[dict[str, Any]] = dataclasses.field(default_factory=list)


def dry_run(policy_id: uuid.UUID, *, by: str, limit: int = MOST_DECISIONS) -> DryRun:
    """Over the latest decisions; nothing is sent and nothing moves. Raises `NotFound`, `StaleFence`."""
    with transaction.atomic():
        draft = policies.locked_draft(policy_id)
        found = tried(draft, _past(limit))
        now = rows.now()
        draft.differences = {**dataclasses.asdict(found), "at": now.isoformat(), "by": by}
        draft.event = "dry_run"
        draft.payload = {"asked": found.asked, "stricter": found.stricter, "looser": found.looser}
        policies.write(draft, now, by, before=DRAFT)
    return found


def tried(draft: Policy, decisions: Iterable[Decision]) -> DryRun:
    ruled = policy.check(draft.text, label=str(draft)).ruled
    found = DryRun()
    counts: Counter[str] = Counter()
    for decision in decisions:
        try:
            facts = _facts(decision)
        except (KeyError, ValueError):
            found.unreadable += 1
            continue
        found.asked += 1
        now = ruled.decide(facts)
        was = said_by_policy(decision)
        if (now.verdict, now.rule) == (was, decision.rule):
            continue
        order = STRICTNESS.index(now.verdict) - STRICTNESS.index(was)
        found.stricter += order > 0
        found.looser += order < 0
        counts[f"{was} to {now.verdict}" if order else f"still {now.verdict}, by another rule"] += 1
        if len(found.differences) < MOST_LISTED and order:
            found.differences.append(_difference(decision, now))
    found.counts = dict(counts)
    return found


def said_by_policy(decision: Decision) -> str:
    """What went under an approval was asked about, not allowed."""
    return policy.ASK if "approval" in decision.inputs else decision.verdict


def _past(limit: int) -> list[Decision]:
    """What the policy decided, the latest first; what grants refused never came before it."""
    rows_ = Decision.objects.exclude(policy=grants.NAME).order_by("-id")
    return list(
        rows_.select_related("agent", "effect__run__workflow", "effect__agent", "effect__tool", "effect__compensates")[
            :limit
        ]
    )


def _facts(decision: Decision) -> dict[str, Any]:
    """Raises `KeyError` for what can't be told any more."""
    inputs = decision.inputs
    if decision.effect is not None:
        return policy.facts.recalled(inputs, decision.effect)
    run = Run.objects.select_related("workflow").filter(id=inputs["run"]["id"]).first()
    tool = Tool.objects.filter(name=inputs["tool"], version=inputs["version"]).first()
    if run is None or tool is None:
        raise KeyError("its run or tool is gone")
    return policy.facts.recalled_request(inputs, run, tool)


def _difference(decision: Decision, now: policy.Verdict) -> dict[str, Any]:
    run = decision.effect.run_id if decision.effect else decision.inputs["run"]["id"]
    return {
        "decision": str(decision.id),
        "effect": str(decision.effect_id) if decision.effect_id else None,
        "run": str(run),
        "act": decision.act,
        "at": decision.at.isoformat(),
        "was": {"verdict": said_by_policy(decision), "rule": decision.rule},
        "would": {"verdict": now.verdict, "rule": now.rule, "reason": now.reason},
    }

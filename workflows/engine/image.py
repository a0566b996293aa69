"""Keeps what was there before an effect changes it, for the tool that declares so: read after the intent is committed,
written before the first byte leaves. Without the image the effect isn't sent, nor on a base that was changed since."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from concurrent.futures import Executor, Future

from django.db import transaction

from workflows import ledger, rows
from workflows.authority import approvals
from workflows.authority.approvals import digest
from workflows.engine.parts import fresh as based
from workflows.engine.parts.door import calls_of, seen
from workflows.models import Effect
from workflows.outcomes import OF_THE_IMAGE, NotSent, Outcome, Refused, Sighting, Verdict
from workflows.toolbox import tool_of
from workflows.tools.base import Tool
from workflows.tools.call import Call

Read = Sighting | Outcome | None


def wants(effect: Effect) -> bool:
    """Once, before the first send; under an approval before each, while none did anything: it is of what is there."""
    fresh = effect.before is None or (effect.approval is not None and not effect.doubt)
    imaged = effect.operation == "execute" and fresh and tool_of(effect.tool).has("before")
    return imaged or based.wanted(effect)


def begin(effects: Sequence[Effect], pool: Executor, now: dt.datetime) -> list[tuple[Effect, Future[Read]]]:
    """Starts the reads of what is there now; the futures never raise."""
    reads = based.reads_of(effects, now)
    return [
        (effect, pool.submit(_read, tool, call, reads.get(effect.id, [])))
        for effect, (tool, call) in zip(effects, calls_of(effects, now), strict=True)
    ]


def _read(tool: Tool, call: Call, reads: based.Reads) -> Read:
    """None: there is nothing to keep, and what it is based on is as it was."""
    if (stale := based.stale(reads)) is not None:
        return stale
    return seen(lambda: tool.before(call)) if tool.has("before") else None


def keep(answers: Sequence[tuple[Effect, Read]]) -> tuple[list[Effect], list[tuple[Effect, Outcome]]]:
    """(those whose image is written now and may be sent, those that may not with why), under their fence."""
    read = [(effect, answer) for effect, answer in answers if isinstance(answer, Sighting)]
    kept = [effect for effect, answer in answers if answer is None]
    not_sent = [(effect, answer) for effect, answer in answers if answer and not isinstance(answer, Sighting)]
    found = [(effect.twin(), seen_) for effect, seen_ in read if seen_.verdict == Verdict.FOUND]
    with transaction.atomic():
        targets = [(t, s.result, s.evidence.get("version")) for t, s in found if _versioned(t)]
        changed = approvals.changed_target(targets, rows.now()) if targets else set()
        images = [(twin, seen_) for twin, seen_ in found if twin.id not in changed]
        for twin, seen_ in images:
            version = seen_.evidence.get("version")
            twin.before = {**seen_.result, **({OF_THE_IMAGE: version} if version is not None else {})}
            twin.note()
            twin.payload = {"before": "kept"}
        written = ledger.save_effects([twin for twin, _ in images], now=rows.now())
    twins = {twin.id: twin for twin, _ in images}
    for effect, seen_ in read:
        if effect.id in written:
            effect.__dict__.update(twins[effect.id].__dict__)
            kept.append(effect)
        elif effect.id in changed:
            not_sent.append((effect, NotSent(reason=digest.WORDS["target_changed"], ours=True, held=True)))
        else:
            reason = f"what was there before could not be read: {seen_.reason}"
            if seen_.rejected:
                told = Refused(reason=reason, temporary=True, rejected=seen_.rejected, evidence=seen_.evidence)
                not_sent.append((effect, told))
            elif seen_.unmade:
                not_sent.append((effect, Refused(reason=reason, evidence=seen_.evidence)))
            else:
                not_sent.append((effect, NotSent(reason=reason, ours=True, evidence=seen_.evidence)))
    return kept, not_sent


def _versioned(effect: Effect) -> bool:
    """Whether persons approved it for one version of what it acts on."""
    return effect.approval is not None and tool_of(effect.tool).has("before.version")

"""Proves by the versions of a thing that a look saw the state after our write, not an older one. Pure."""

from __future__ import annotations

import dataclasses
import datetime as dt
import re
from typing import Any

from workflows.outcomes import Sighting, Verdict

NUMBER = re.compile(r"[0-9]{1,30}")


def weighed(seen: Sighting, version: Any, written: Any, *, undoing: bool) -> Sighting:
    """The same look, or "not yet" where it saw an older state than the one that is to be proved.

    `version`: what the look saw; `written`: what the answer to our write (for an undoing: to the act that it undoes)
    said. An act is proved by its own version or a newer one, its undoing by a newer one only. Versions are ordered if
    both are whole numbers or moments; of others only equality is known.
    """
    if version is None or written is None:
        return seen
    kept = {**seen.evidence, "version": version, "written": written}
    order = compared(version, written)
    older = order is not None and (order <= 0 if undoing else order < 0)
    if older and seen.verdict is not Verdict.SEVERAL:
        reason = f"not yet: version {version} is {'no newer' if undoing else 'older'} than ours, {written}"
        return dataclasses.replace(seen, verdict=Verdict.INCONCLUSIVE, reason=reason, result={}, evidence=kept)
    if order is None and version != written and seen.verdict is Verdict.DIFFERS:
        reason = f"version {version} isn't ours, {written}, and nobody can tell which of them is older"
        return dataclasses.replace(seen, verdict=Verdict.INCONCLUSIVE, reason=reason, evidence=kept)
    return dataclasses.replace(seen, evidence=kept)


def unchanged(seen: Sighting, version: Any, base: Any) -> Sighting:
    """A difference that is the state from before our act, where its answer told no version: it is not there (yet).

    `base`: the version of the image kept before the act. Only a look that may count as a miss makes absence of it."""
    order = compared(version, base) if version is not None and base is not None else None
    if seen.verdict is not Verdict.DIFFERS or order is None or order > 0:
        return seen
    verdict = Verdict.ABSENT if order == 0 else Verdict.INCONCLUSIVE
    reason = f"version {version} is {'still' if order == 0 else 'older than'} that from before, {base}"
    return dataclasses.replace(seen, verdict=verdict, reason=reason, evidence={**seen.evidence, "version": version})


def compared(one: Any, other: Any) -> int | None:
    """-1, 0 or 1; None where nobody can tell which came first."""
    numbers, moments = (_number(one), _number(other)), (_moment(one), _moment(other))
    if numbers[0] is not None and numbers[1] is not None:
        return (numbers[0] > numbers[1]) - (numbers[0] < numbers[1])
    if moments[0] is not None and moments[1] is not None:
        return (moments[0] > moments[1]) - (moments[0] < moments[1])
    return 0 if one == other else None


def _number(value: Any) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, str) and NUMBER.fullmatch(value) else None


def _moment(value: Any) -> dt.datetime | None:
    if not isinstance(value, str):
        return None
    try:
        moment = dt.datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None

"""What the journal holds of some effects: who asked for each first, and whether its entries fit together. For a run's
page, which reads a bounded number of entries and says where it read none."""

from __future__ import annotations

import dataclasses
import itertools
import uuid
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any

from workflows import proof
from workflows.journal import HASHED
from workflows.models import Effect, Entry

MOST = 2_000  # entries read for one page; an effect has about six


@dataclasses.dataclass(frozen=True, slots=True)
class Chain:
    """`actor`: of the first entry, by the journal's name; `flaw`: the first thing wrong, "" where all fits. Words kept
    beside entries aren't read: `verify_journal` does."""

    actor: str
    flaw: str

    @property
    def stands(self) -> str:
        return "broken" if self.flaw else "whole"


def chains(effects: Sequence[Effect]) -> dict[uuid.UUID, Chain]:
    """Of the first of them, as many as may be read. One query."""
    read = list(few_enough(effects))
    entries = Entry.objects.filter(subject_id__in=[effect.id for effect in read]).order_by("subject_id", "seq", "id")
    rows = itertools.groupby(entries, key=attrgetter("subject_id"))
    found = {subject: [row_of(entry) for entry in own] for subject, own in rows}
    return {effect.id: chain_of(effect, found.get(effect.id, [])) for effect in read}


def few_enough(effects: Sequence[Effect]) -> Iterator[Effect]:
    total = 0
    for effect in effects:
        total += effect.seq
        if total > MOST:
            return
        yield effect


def row_of(entry: Entry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in (*HASHED, "hash")}


def chain_of(effect: Effect, entries: list[dict[str, Any]]) -> Chain:
    """`entries` may have come after the effect was read: those are no flaw of it."""
    head = proof.Head("effect", effect.id, effect.seq, effect.head)
    written = [proof.Written(entry, None, None) for entry in entries if entry["seq"] <= effect.seq]
    flaw = next(iter([*proof.chain(head, effect.id, written, proof.Summary())]), None)
    return Chain(actor=entries[0]["actor"] if entries else "", flaw=f"#{flaw.seq}: {flaw.what}" if flaw else "")

"""Writes what somebody changed about a person: a row that stays, and its entry in the journal, in the same commit.

What another did is told to who judges it."""

from __future__ import annotations

from typing import Any

from repairs.models import PersonAct
from repairs.notices import telling
from workflows import journal, rows


def record(login: str, what: str, *, by: str, why: str = "", **facts: Any) -> PersonAct:
    """`by`: "person:LOGIN" or "command". `facts`: what changed; never a secret. Inside the change's transaction."""
    now = rows.now()
    act = PersonAct(login=login, what=what, by=by, why=why, facts=facts, at=now)
    payload = {"person": login, "why": why, **facts}
    event = journal.Event(subject=act, kind="personact", run_id=None, event=what, actor=by, payload=payload)
    made = journal.chain([event], at=now)
    act.save(force_insert=True)
    journal.write(made)
    if by != f"person:{login}"[:100]:
        telling.of_person(act)
    return act

"""Every verb of the people asks by itself who may act, whatever page, task or batch calls it."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from repairs.acts import (
    bulk,
    claim,
    correct_time,
    escalate,
    hand_over,
    look_again,
    note,
    on_effect,
    open_case,
    remedy,
    reopen,
    snooze,
    tick,
    turn_back,
    work_next,
    write_off,
)
from repairs.desk import desk_for
from repairs.models import Act
from repairs.models.act import ActKind
from workflows.engine.remedy import RemedyBody
from workflows.errors import Denied

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
NOBODY = uuid.UUID(int=0)
VERBS: dict[str, Callable[[uuid.UUID, User], object]] = {
    "claim": lambda case, by: claim.claim(case, by=by),
    "look again": lambda case, by: look_again.look_again(case, effect_id=NOBODY, by=by, why="x", fence=0),
    "propose a write-off": lambda case, by: write_off.propose(
        case, effect_id=None, by=by, why="x", fence=0, seq=0, note=""
    ),
    "write off alone": lambda case, by: write_off.alone(case, effect_id=None, by=by, why="x", fence=0, seq=0, note=""),
    "confirm a write-off": lambda case, by: write_off.confirm(NOBODY, by=by, why="x", note=""),
    "escalate": lambda case, by: escalate.escalate(case, by=by, to="approver", why="x"),
    "snooze": lambda case, by: snooze.snooze(case, by=by, why="x", cause="customer", until="2h", fence=0),
    "note": lambda case, by: note.note(case, kind=ActKind.FACT, by=by, text="x"),
    "reopen": lambda case, by: reopen.reopen(case, by=by, why="x"),
    "open a case": lambda case, by: open_case.open_case(NOBODY, by=by, why="x", over=False),
    "hand over": lambda case, by: hand_over.hand_over(
        case, by=by, to="x", severity="watch", situation="x", contingency="x", fence=0
    ),
    "accept": lambda case, by: hand_over.accept(case, by=by, synthesis="x", as_of="1.1"),
    "wake": lambda case, by: snooze.wake(case, by=by),
    "judge": lambda case, by: note.judge(case, NOBODY, right=True, by=by, text="x", given=()),
    "tick": lambda case, by: tick.tick(case, by=by, name="not-undone", version=1, step=1),
    "correct time": lambda case, by: correct_time.correct_time(case, by=by, minutes="5", why="x"),
    "close": lambda case, by: reopen.close(case, by=by, why="x", fence=0),
    "make good": lambda case, by: remedy.make_good(
        case, RemedyBody(tool="x", arguments={}), by=by, why="x", fence=0, note=""
    ),
    "call off": lambda case, by: remedy.call_off(case, effect_id=NOBODY, by=by, why="x", fence=0, note=""),
    "turn back": lambda case, by: turn_back.turn_back(case, by=by, why="x", fence=0, note=""),
    "on effect": lambda case, by: on_effect.ask(
        ActKind.SKIP, case, effect_id=NOBODY, by=by, why="x", fence=0, seq=0, note=""
    ),
    "work next": lambda case, by: work_next.work_next(desk_for(by)),
    "ask a batch": lambda case, by: bulk.ask(NOBODY, by=by, why="x", digest=""),
    "confirm a batch": lambda case, by: bulk.confirm(NOBODY, by=by, why="x", digest=""),
    "decline a batch": lambda case, by: bulk.decline(NOBODY, by=by, why="x"),
    "stop a batch": lambda case, by: bulk.stop(NOBODY, by=by),
    "resume a batch": lambda case, by: bulk.resume(NOBODY, by=by),
}


def test_a_verb_leaves_it_to_its_caller_who_may_act(stuck: Make, person: Make) -> None:
    """Of what several pages call, or what is called later, somebody may have lost the role since."""
    case, reader = stuck(), person("reader", "manager")
    passed = []
    for name, verb in VERBS.items():
        try:
            verb(case.id, reader)
        except Denied:
            continue
        except Exception as error:
            passed.append(f"{name}: {error}")
        else:
            passed.append(name)
    assert passed == []
    assert not Act.objects.exists()

"""Acts that ask one verb of the engine about one effect: findings, another try, passing over, undoing once more."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any

from django.contrib.auth.models import User

from repairs import preview
from repairs.acts.door import actor, enter, needs, stuck_effect
from repairs.acts.evidence import Given
from repairs.acts.record import engine, record, refusal_kept
from repairs.models.act import ActKind, Outcome
from repairs.roles import REPAIRER
from repairs.words.marked import _
from workflows.engine import findings, people
from workflows.errors import Flaw, Invalid, StaleFence
from workflows.why import reason

VERBS: dict[ActKind, Callable[..., Any]] = {
    ActKind.TRY_AGAIN: findings.try_again,
    ActKind.SKIP: findings.skip,
    ActKind.FOUND: findings.found,
    ActKind.ABSENT: findings.absent,
    ActKind.UNDO_REST: people.undo_rest,
    ActKind.UNDO_AGAIN: people.undo_again,
}
NAMES_AT_MOST = 500  # characters of a provider's name for a thing


def ask(
    kind: ActKind,
    case_id: uuid.UUID,
    *,
    effect_id: uuid.UUID,
    by: User,
    why: str,
    fence: int,
    seq: int,
    note: str,
    result: dict[str, str] | None = None,
    given: Sequence[Given] = (),
) -> None:
    """Asks the engine for it. `seq`: the place in the effect's history that the person saw; what moved since is not
    acted on. `note`: of the preview that was shown. `result`: of a finding, what the provider calls the thing;
    `given`: evidence.

    Raises the engine's refusals, the door's and the preview's."""
    needs(by, REPAIRER)
    why = reason(why)
    known = named(result)
    with refusal_kept(case_id, kind=kind, by=by, why=why, effect_id=effect_id):
        case, now = enter(case_id, by=by, fence=fence)
        effect = stuck_effect(case, effect_id)
        if effect.seq != seq:
            raise StaleFence(_("This effect moved since you opened the page; read what is true now, then decide."))
        preview.confirm(note, kind, case, effect.id, by=by)
        facts = {"state": effect.state, "world": effect.world, "seq": effect.seq, "result": known}
        more: dict[str, Any] = {"result": known} if kind == ActKind.FOUND else {}
        with engine():
            VERBS[kind](effect.id, by=actor(by), why=why, **more)
        of: dict[str, Any] = {"effect_id": effect.id, "facts": facts, "given": given}
        record(case.id, kind=kind, by=by, why=why, outcome=Outcome.ASKED, now=now, **of)


def named(result: dict[str, str] | None) -> dict[str, str]:
    """What was filled in, trimmed. Raises `Invalid` for what can't be a provider's name for a thing."""
    known = {name: text.strip() for name, text in (result or {}).items() if text.strip()}
    flaws = [
        Flaw(f"result.{name}", text, _("at most {most} visible characters", most=NAMES_AT_MOST))
        for name, text in known.items()
        if len(text) > NAMES_AT_MOST or not text.isprintable()
    ]
    if flaws:
        raise Invalid(_("That can't be what a provider calls it."), flaws)
    return known

"""People's part in versions of tools: withdrawing and restoring one, and deciding about work that waited meanwhile."""

from __future__ import annotations

from django.db import transaction

from repairs import preview
from repairs.acts.door import actor, needs_some
from repairs.desk import Desk
from repairs.roles import APPROVER, OPERATOR
from repairs.words.marked import _
from workflows.authority import versions
from workflows.engine import trust
from workflows.models import Effect, Run, Tool

MAY_WITHDRAW = frozenset({OPERATOR})
MAY_DECIDE = frozenset({OPERATOR, APPROVER})


def withdraw(desk: Desk, tool: Tool, *, why: str) -> None:
    """Nothing is sent by this version any more."""
    needs_some(desk, MAY_WITHDRAW, _("withdraw a version"))
    versions.withdraw(tool, by=actor(desk.user), why=why)


def restore(desk: Desk, tool: Tool, *, why: str) -> None:
    needs_some(desk, MAY_WITHDRAW, _("restore a version"))
    versions.restore(tool, by=actor(desk.user), why=why)


def believe(desk: Desk, tool: Tool, *, why: str) -> None:
    """One key had made two objects by this version; its keys count again. Raises `Denied`, `Invalid`, `NotFound`."""
    needs_some(desk, MAY_WITHDRAW, _("let its keys be believed again"))
    trust.lift(tool.name, tool.version, by=actor(desk.user), why=why)


def let_go(desk: Desk, effect: Effect, *, why: str, note: str) -> None:
    """This effect may go with its version as it is now. `note`: of the preview that was shown."""
    needs_some(desk, MAY_DECIDE, _("let it go"))
    with transaction.atomic():
        Run.objects.select_for_update().get(id=effect.run_id)
        of = Effect.objects.select_related("run__workflow", "step", "tool", "compensates")
        preview.confirm_let_go(note, of.get(id=effect.id), by=desk.user)
        versions.let_go(effect.id, by=actor(desk.user), why=why)


def give_up(desk: Desk, effect: Effect, *, why: str) -> None:
    needs_some(desk, MAY_DECIDE, _("give it up"))
    versions.give_up(effect.id, by=actor(desk.user), why=why)

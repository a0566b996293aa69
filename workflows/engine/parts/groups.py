"""Puts first sends of one batch tool into one request, and shares its answers out again. For the verb call."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

from workflows.models import Effect
from workflows.outcomes import Outcome
from workflows.tools.base import Tool
from workflows.tools.call import Call

Going = tuple[Effect, Tool, Call]


def grouped(going: Sequence[Going]) -> list[list[Going]]:
    """Each group is one request: of one version of a tool, of whatever runs, no more than it takes at once.

    What was sent before goes alone: so one item that spoils its batch doesn't do so again."""
    groups: list[list[Going]] = []
    last: dict[int, list[Going]] = {}
    for one in going:
        effect, tool, call = one
        first = call.operation == "execute" and effect.attempts == 1 and tool.at_once > 1
        group = last.get(effect.tool_id.int) if first else None
        if group is not None and len(group) < tool.at_once:
            group.append(one)
            continue
        groups.append([one])
        if first:
            last[effect.tool_id.int] = groups[-1]
    return groups


def shares(shared: Future[list[Outcome]], many: int) -> list[Future[Outcome]]:
    """One future for each effect of a group, all answered at once. None of them raises, as the shared one doesn't."""
    each: list[Future[Outcome]] = [Future() for _ in range(many)]

    def hand_out(done: Future[list[Outcome]]) -> None:
        for future, outcome in zip(each, done.result(), strict=True):
            future.set_result(outcome)

    shared.add_done_callback(hand_out)
    return each

"""What a run goes on with once an act that waits for people is done: for whoever is asked. Names only: each of these is
decided for itself when its turn comes."""

from __future__ import annotations

from django.db.models import Q

from workflows.engine.ahead import WAITING, Named
from workflows.models import Effect, Step
from workflows.states import Phase, StepState

MOST = 11  # names; the page says ten and that there are more


def following(effect: Effect) -> list[Named]:
    """Steps not begun, and acts that wait, of a run that goes forward; undoings that wait of one that turns back. One
    statement."""
    forward = effect.run.phase in (Phase.OPEN, Phase.RUNNING)
    kinds = ("forward", "remedy") if forward else ("compensation", "remedy")
    waits = Effect.objects.filter(run=effect.run_id, state__in=WAITING, kind__in=kinds).exclude(id=effect.id)
    chosen = Q(id__in=waits.values("step"))  # by their run: no index leads from steps to effects
    if forward:
        chosen |= Q(state=StepState.PENDING.value)
    steps = Step.objects.filter(chosen, run=effect.run_id).order_by("ordinal")
    return [(name, not forward and not remedy) for name, remedy in steps.values_list("name", "remedy")[:MOST]]

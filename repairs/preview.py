"""What a person's act will send and what it won't repeat: shown before the act, and proved again when it is done.

The page carries a signed note of what it showed; whoever acts on another request than that is refused.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.core import signing

from repairs import reading
from repairs.models import Case
from repairs.models.act import ActKind
from repairs.words.marked import _
from workflows import making
from workflows.engine import ahead, resume
from workflows.engine.ahead import Named, Onward, Planned
from workflows.errors import Invalid, StaleFence
from workflows.models import Effect, Run, Step
from workflows.policies.after_look import REVERSED
from workflows.policies.unwinding import UNDO_AGAIN
from workflows.states import EffectState, Phase
from workflows.toolbox import give_tools

SALT = "act-preview"
REMEDY = ActKind.REMEDY.value
LET_GO = "let_go"  # an operator's word on one effect, outside any case
SHOWN = frozenset(
    {
        ActKind.LOOK_AGAIN,
        ActKind.TRY_AGAIN,
        ActKind.SKIP,
        ActKind.FOUND,
        ActKind.ABSENT,
        ActKind.UNDO_REST,
        ActKind.UNDO_AGAIN,
        ActKind.TURN_BACK,
        ActKind.WRITE_OFF,
        ActKind.CALL_OFF,
        ActKind.CANCEL,
        ActKind.HOLD,
        ActKind.RESUME,
    }
)
LASTS = dt.timedelta(hours=8)  # as long as a page with an approval; what was read yesterday is read anew


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A run as it was read. `left`: by effect, what its last send found to be left to undo."""

    run: Run
    steps: Sequence[Step]
    effects: Sequence[Effect]
    left: Mapping[uuid.UUID, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """`sends`: in order; the first is what was asked for, the others follow if all goes well. `goes_on`, `under_way`,
    `never`: as in `Onward`. `stays`: what was sent before and isn't sent again."""

    kind: str
    effect_id: uuid.UUID | None
    sends: Sequence[Planned]
    goes_on: Sequence[Named]
    under_way: Sequence[Named]
    never: Sequence[Named]
    stays: Sequence[Effect]
    at: dt.datetime

    @property
    def reads(self) -> bool:
        """Whether it is no more than a look."""
        return bool(self.sends) and all(draft.reads for planned in self.sends for draft in planned.drafts)

    @property
    def digest(self) -> str:
        told = [[p.effect.key, [dataclasses.astuple(draft) for draft in p.drafts]] for p in self.sends]
        return making.canonical_digest([self.kind, told, self.goes_on, self.under_way, self.never])

    def note(self, case_id: uuid.UUID, user: User) -> str:
        return note_of(self.kind, case_id, self.effect_id, user, self.digest, self.at)


def note_of(
    kind: str, case_id: uuid.UUID, effect_id: uuid.UUID | None, user: User, digest: str, at: dt.datetime
) -> str:
    """Says that `user` was shown what this digest is over."""
    facts = [kind, str(case_id), str(effect_id or ""), user.pk, digest, at.isoformat()]
    return signing.dumps(facts, salt=SALT)


def facts_of(run_id: uuid.UUID) -> Facts:
    """At most four statements."""
    run = Run.objects.select_related("workflow").get(id=run_id)
    effects = reading.effects_of([run_id])[run_id]
    sends = reading.last_sends(e.id for e in effects if e.reason == "less_remains")
    return with_steps(run, effects, left_of(sends))


def left_of(sends: Mapping[uuid.UUID, Any]) -> dict[uuid.UUID, Any]:
    return {pk: send.evidence.get("remaining") for pk, send in sends.items()}


def with_steps(run: Run, effects: Sequence[Effect], left: Mapping[uuid.UUID, Any]) -> Facts:
    """One statement, and another for tools that this process hasn't met."""
    steps = list(Step.objects.filter(run=run).order_by("ordinal"))
    give_tools(steps)
    for effect in effects:
        effect.run = run
    return Facts(run=run, steps=steps, effects=effects, left=left)


def of(effect: Effect, facts: Facts, at: dt.datetime, *, kind: str = REMEDY, about: uuid.UUID | None = None) -> Preview:
    """Of an effect that isn't stored yet: a new act, made in memory with its run, step and tool. `about`: what it is to
    make good."""
    return _preview(kind, about, Onward(sends=[ahead.send(effect, facts.steps, at)]), facts, at)


def of_act(kind: ActKind, facts: Facts, effect_id: uuid.UUID | None, at: dt.datetime) -> Preview:
    """Of an act on a stuck effect, or (without one) on the run. Raises `KeyError` for an effect of another run."""
    effect = None if effect_id is None else {e.id: e for e in facts.effects}[effect_id]
    return _preview(kind.value, effect_id, _planned(kind, facts, effect, at), facts, at)


def _preview(kind: str, effect_id: uuid.UUID | None, then: Onward, facts: Facts, at: dt.datetime) -> Preview:
    again = {planned.effect.id for planned in then.sends}
    stays = [e for e in facts.effects if e.first_sent_at and e.id not in again]
    return Preview(
        kind=kind,
        effect_id=effect_id,
        sends=then.sends,
        goes_on=then.goes_on,
        under_way=then.under_way,
        never=then.never,
        stays=stays,
        at=at,
    )


def _planned(kind: ActKind, facts: Facts, effect: Effect | None, at: dt.datetime) -> Onward:
    """The moves that the act asks of the engine are made on twins in memory; then what follows is read off them."""
    run = ahead.twin(facts.run)
    if effect is None:
        return _of_the_run(kind, run, facts, at)
    match kind:
        case ActKind.LOOK_AGAIN:
            return Onward(sends=[ahead.look(effect, facts.steps, at)])
        case ActKind.TRY_AGAIN | ActKind.UNDO_REST:
            once_more = effect.twin()
            if kind == ActKind.UNDO_REST:
                once_more.before = {"agreed": facts.left.get(effect.id)}
            once_more.attempts = 1  # such an act begins its tries anew
            then = _after(run, facts, _went_well(effect, at), at)
            return dataclasses.replace(then, sends=[ahead.send(once_more, facts.steps, at), *then.sends])
        case ActKind.FOUND:
            return _after(run, facts, _went_well(effect, at), at)
        case ActKind.ABSENT | ActKind.SKIP:
            cleared = effect.twin()
            cleared.clear(detail="")
            if kind == ActKind.ABSENT:
                _step_fails(run, effect)
            return _after(run, facts, cleared, at)
        case ActKind.WRITE_OFF:
            _step_fails(run, effect)
            return _after(run, facts, _written_off(effect), at)
        case ActKind.CALL_OFF:
            called = effect.twin()
            called.cancel(reason="called_off")
            then = _after(run, facts, called, at)
            return dataclasses.replace(then, never=[(effect.step.name, False), *then.never])
        case ActKind.UNDO_AGAIN:
            _decided(run, "compensate")
            return ahead.onward(run, facts.steps, _cleared_for_another(effect, facts, at), at)
        case _:
            raise LookupError(f"{kind} is not previewed")


def _of_the_run(kind: ActKind, run: Run, facts: Facts, at: dt.datetime) -> Onward:
    effects = list(facts.effects)
    match kind:
        case ActKind.TURN_BACK:
            _decided(run, "compensate")
        case ActKind.WRITE_OFF:
            _decided(run, "written_off")
            effects = [_written_off(one) if one.state == EffectState.STUCK else one for one in effects]
        case ActKind.CANCEL | ActKind.HOLD:
            if run.phase in (Phase.OPEN, Phase.RUNNING):  # else what was shown is no more, which the digest says
                run.unwind(ending="compensate" if kind == ActKind.CANCEL else "hold", cause="cancel", reason="")
        case ActKind.RESUME:
            if not resume.why_not(run, effects):
                return _goes_forward(run, facts, at)
        case _:
            raise LookupError(f"{kind} is not previewed")
    return ahead.onward(run, facts.steps, effects, at)


def _goes_forward(run: Run, facts: Facts, at: dt.datetime) -> Onward:
    steps = [ahead.twin(step) for step in facts.steps]
    resume.let_go_on(run, steps, at)
    sends = ahead.beginnings(run, steps, facts.effects, at)
    begun = {planned.effect.step.name for planned in sends}
    then = ahead.onward(run, steps, facts.effects, at)
    return dataclasses.replace(then, sends=sends, goes_on=[one for one in then.goes_on if one[0] not in begun])


def _decided(run: Run, ending: str) -> None:
    run.ending, run.end_cause = ending, "person"


def _step_fails(run: Run, effect: Effect) -> None:
    """A run that goes forward turns back, as its workflow says, when a step of it fails; by a remedy none does."""
    if effect.forward and run.phase in (Phase.OPEN, Phase.RUNNING):
        run.unwind(ending=run.workflow.spec["on_failure"], cause="step", reason="")


def _written_off(effect: Effect) -> Effect:
    left = effect.twin()
    left.write_off(detail="")
    return left


def _went_well(effect: Effect, at: dt.datetime) -> Effect:
    settled = effect.twin()
    settled.find(result=dict(effect.result or {}), at=at)
    settled.changed_at = at
    return settled


def _after(run: Run, facts: Facts, moved: Effect, at: dt.datetime) -> Onward:
    return ahead.onward(run, facts.steps, [moved if e.id == moved.id else e for e in facts.effects], at)


def _cleared_for_another(effect: Effect, facts: Facts, at: dt.datetime) -> list[Effect]:
    """The effects once the undoing that is over makes room for a new one."""
    twins = []
    for known in facts.effects:
        one = known.twin()
        if one.compensates_id == effect.id and one.state != EffectState.CANCELLED:
            if one.settled:
                one.stick(reason=REVERSED, detail="", world="nothing")
                one.event = ""
            one.clear(detail="")
        elif one.id == effect.id and one.state == EffectState.STUCK:
            one.reason = UNDO_AGAIN
        twins.append(one)
    return twins


def confirm(note: str, kind: ActKind, case: Case, effect_id: uuid.UUID | None, *, by: User) -> None:
    """Inside the act, under the run's lock: what would be sent is what this person was shown. Raises `Invalid`,
    `StaleFence`."""
    digest, at = read(note, kind.value, case.id, effect_id, by)
    if of_act(kind, facts_of(case.run_id), effect_id, at).digest != digest:
        raise StaleFence(CHANGED)


def of_let_go(effect: Effect, at: dt.datetime) -> Preview:
    """Of an effect that waits because its tool's version is not what it was. `run`, `step`, `tool`, `compensates` must
    be at hand. One statement."""
    once_more = effect.twin()
    once_more.attempts += 1
    return of(once_more, with_steps(effect.run, [effect], {}), at, kind=LET_GO, about=effect.id)


def confirm_let_go(note: str, effect: Effect, *, by: User) -> None:
    """As `confirm`; its run stands where a case would."""
    digest, at = read(note, LET_GO, effect.run_id, effect.id, by)
    if of_let_go(effect, at).digest != digest:
        raise StaleFence(CHANGED)


CHANGED = "What would be sent has changed since you were shown it; read it again, then decide."


def read(note: str, kind: str, case_id: uuid.UUID, effect_id: uuid.UUID | None, by: User) -> tuple[str, dt.datetime]:
    """The digest of what was shown, and when. Raises `Invalid` where nothing, or something else, was shown."""
    try:
        named, case, effect, user, digest, at = signing.loads(note, salt=SALT, max_age=LASTS)
        moment = dt.datetime.fromisoformat(at)
    except (signing.BadSignature, ValueError, TypeError) as error:
        raise Invalid(_("Nothing says that you were shown what this sends; open the page anew.")) from error
    if (named, case, effect, user) != (kind, str(case_id), str(effect_id or ""), by.pk):
        raise Invalid(_("You were shown what another act sends; open the page anew."))
    return digest, moment

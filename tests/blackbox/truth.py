"""The four views of one run: the provider's oracle, the ledger's rows, the API and the cases. They must tell one story,
and the journal must tell it again.

`agree` reads all of them and fails with the first contradiction; what it returns is short enough to assert upon.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections import Counter
from typing import Any

from repairs.models import Case
from tests.blackbox.agent import Agent
from tests.world.provider import Provider
from workflows.models import Attempt, Effect, Look, Run
from workflows.replay.check import check

Json = dict[str, Any]
NEVER_LEFT = ("not_sent",)


@dataclasses.dataclass(frozen=True, slots=True)
class Truth:
    """What all four views say. `effects`: {"step kind": "state world"}."""

    run: Json
    effects: dict[str, str]
    details: dict[str, Json]  # GET effects/{id}, by "step kind"
    standing: Counter[str]  # this run's objects that exist now, by collection
    made: Counter[str]  # this run's objects that were ever made, by collection
    cases: list[Json]

    @property
    def state(self) -> str:
        return str(self.run["state"])

    @property
    def residue(self) -> list[str]:
        return [row["statement"] for row in self.run["residue"]]

    def outcomes(self, name: str) -> list[str]:
        """How the sends of one effect ended, in order."""
        return [attempt["outcome"] for attempt in self.details[name]["attempts"]]

    def key(self, name: str) -> str:
        return str(self.details[name]["key"])


def agree(agent: Agent, world: Provider, run_id: str) -> Truth:
    run = agent.get(f"runs/{run_id}")
    rows = {str(e.id): e for e in Effect.objects.filter(run_id=run_id).select_related("step", "tool")}
    _ledger(run, rows)
    details = {str(e["id"]): agent.get(f"effects/{e['id']}") for e in run["effects"]}
    for found in details.values():
        _sends_and_looks(found)
    oracle = world.oracle
    for effect in rows.values():
        _world(effect, oracle, rows)
    _belong(oracle)
    _words(run, rows)
    _, flaws = check(uuid.UUID(run_id))
    assert not flaws, f"the journal tells another story: {flaws}"
    keys = {e.key for e in rows.values()}
    there = [o for o in oracle["objects"] if o["reference"] in keys and not o["foreign"]]
    gone = [o for o in oracle["deleted"] if o["reference"] in keys and not o["foreign"]]
    return Truth(
        run=run,
        effects={_name(e): f"{e['state']} {e['world']}" for e in run["effects"]},
        details={_name(e): details[e["id"]] for e in run["effects"]},
        standing=Counter(o["collection"] for o in there),
        made=Counter(o["collection"] for o in [*there, *gone]),
        cases=_cases(run),
    )


def _name(effect: Json) -> str:
    return f"{effect['step']} {effect['kind']}"


def _ledger(run: Json, rows: dict[str, Effect]) -> None:
    row = Run.objects.get(id=run["id"])
    told = (run["phase"], run["state"], run["clean"], run["sealed"])
    assert told == (row.phase, row.state, row.is_clean, row.sealed)
    assert {e["id"] for e in run["effects"]} == set(rows), "the API shows other effects than the ledger holds"
    for effect in run["effects"]:
        row_ = rows[effect["id"]]
        for name in ("state", "world", "reason", "key", "fence", "attempts", "result", "external_ref", "verifiable"):
            assert effect[name] == getattr(row_, name), f"{_name(effect)}: {name}"
        assert (effect["verified_at"] is not None) or effect["state"] != "verified"
    assert {s["name"]: s["state"] for s in run["steps"]} == {
        s.name: "skipped" if row.phase == "over" and s.state == "pending" else s.state for s in row.steps.all()
    }


def _sends_and_looks(found: Json) -> None:
    sends = Attempt.objects.filter(effect_id=found["id"]).order_by("id")
    assert [(a["number"], a["outcome"]) for a in found["attempts"]] == [(a.number, a.outcome) for a in sends]
    assert len(found["looks"]) == Look.objects.filter(effect_id=found["id"]).count()
    for attempt in found["attempts"]:
        assert attempt["ended_at"] or attempt["outcome"] == "", attempt
    allowed = [d for d in found["decisions"] if d["verdict"] == "allow"]
    assert len(allowed) == len(found["attempts"]), "a send without its own decision"


def _world(effect: Effect, oracle: Json, rows: dict[str, Effect]) -> None:
    """What the ledger claims of the outside is so."""
    forward = effect.compensates if effect.compensates_id else effect
    assert forward is not None
    there = [o for o in oracle["objects"] if o["reference"] == forward.key and not o["foreign"]]
    ever = there + [o for o in oracle["deleted"] if o["reference"] == forward.key and not o["foreign"]]
    told = f"{effect.step.name} {effect.kind} is {effect.state}, its world {effect.world}"
    if effect.generation:
        return  # a fallback is another act; what it undoes may stand, and is said to be unknown
    if effect.compensates_id:
        assert not (effect.state == "verified" and there), f"{told}, and {len(there)} of it stand"
        return
    assert len(there) <= 1 or effect.world in ("several", "unknown"), f"{told}, and {len(there)} of it stand"
    match effect.world:
        case "present" if any(e.compensates_id == effect.id and e.world == "unknown" for e in rows.values()):
            pass  # what was last proved, before an undoing that nobody knows the end of
        case "present":
            assert len(there) == 1, f"{told}, and there are {len(there)}"
        case "gone":
            assert not there, f"{told}, and it stands"
        case "nothing":
            # An undone lie may be stuck with "nothing"; a forward effect with it never made anything that stands.
            assert not there, f"{told}, and it stands"
            assert not ever or effect.state == "stuck", f"{told}, and it was made once"
        case _:
            pass
    wire = [w for w in oracle["wire"] if w["method"] == "POST" and _carries(w, effect.key)]
    asked = effect.sends.filter(outcome="in_flight").count()  # these only asked after an earlier one
    counted = effect.attempts + asked
    assert len(wire) <= counted, f"{told}: {len(wire)} requests went out, {counted} are counted"
    if wire:
        assert {w["key"] for w in wire} <= {effect.key, ""}, "one effect went out under several keys"


def _carries(wire: Json, key: str) -> bool:
    return wire["key"] == key or (isinstance(wire["body"], dict) and wire["body"].get("reference") == key)


def _belong(oracle: Json) -> None:
    """Nothing was made outside that no effect owns."""
    ours = set(Effect.objects.values_list("key", flat=True))
    for thing in [*oracle["objects"], *oracle["deleted"]]:
        assert thing["foreign"] or thing["reference"] in ours, f"nobody owns {thing}"
        assert not (thing["foreign"] and thing["deleted"]), f"somebody else's object was removed: {thing}"


def _words(run: Json, rows: dict[str, Effect]) -> None:
    """The run's own word, its residue, and whether it is clean follow from what stands."""
    stands = {str(e.id) for e in rows.values() if e.kind == "forward" and e.world not in ("nothing", "gone")}
    told = {row["effect"] for row in run["residue"]}
    if run["phase"] != "over":
        assert run["clean"] is None
        return
    if run["state"] == "completed":
        assert run["clean"] == (not run["residue"]), run
    else:
        assert run["clean"] is False
        assert stands <= told, "something stands that the run doesn't state"
    if run["state"] == "compensated":
        assert not told
    if run["state"] in ("failed", "cancelled"):
        assert not stands


def _cases(run: Json) -> list[Json]:
    rows = list(Case.objects.filter(run_id=run["id"]).order_by("number"))
    found: list[Json] = run["cases"]
    assert [(c["id"], c["state"], c["sentence"]) for c in found] == [(str(c.id), c.state, c.sentence) for c in rows]
    live = [c for c in found if c["state"] in ("open", "waiting")]
    assert bool(live) == (run["state"] == "stuck"), f"the run is {run['state']} and has {len(live)} open cases"
    for case in live:
        assert case["owner"]
        assert case["deadline"]
        assert len(case["sentence"]) > 20
    return found

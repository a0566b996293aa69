"""The one base of every tool: what an outside operation declares, and the calls a kind must answer by value.

A subclass overrides `send` and, where it can look, `look`; nothing here or below touches the database.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
from typing import TYPE_CHECKING, Any, ClassVar

from workflows import money
from workflows.outcomes import Outcome, Refused, Sighting, Unknown, Verdict
from workflows.tools import environment, exactness, expressions, schema
from workflows.tools.defaults import POLL_EVERY, POLL_WITHIN
from workflows.tools.draft import Draft
from workflows.tools.expressions import ExpressionError
from workflows.tools.timings import Timings
from workflows.tools.tokens import Needs, needs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workflows.errors import Flaw
    from workflows.outcomes import JsonObject
    from workflows.tools.call import Call


OUR_CODE = "Code makes the request; this is what it is told."


class Tool:
    """One version of one declared tool. Never raises for trouble of the world: it answers by value.

    `spec` is the normalised dict of the manifest, durations in seconds. An exception out of here is our bug;
    whoever calls records it as unknown.
    """

    # A Python tool may carry its own manifest entry: `{"name": ..., "version": ..., "profile": {...}, ...}`.
    declares: ClassVar[dict[str, Any] | None] = None

    def __init__(self, name: str, spec: JsonObject) -> None:
        self.name = name
        self.spec = dict(spec)
        self.profile: dict[str, Any] = dict(spec["profile"])
        self._timings: dict[str, Timings] = {}
        self._needs: dict[str, Needs] = {}

    @functools.cached_property
    def reads_steps(self) -> bool:
        """Whether calls must bring the results of other steps. What a Python class reads in code nobody sees: it says
        so itself, by setting this to False where it reads none."""
        return self.spec.get("kind") == "python" or "steps" in json.dumps(self.spec)

    def needs(self, operation: str) -> Needs:
        """The credentials of outside systems that "execute" or "compensate" carries."""
        if operation not in self._needs:
            self._needs[operation] = needs_of(self.spec, operation)
        return self._needs[operation]

    def send(self, call: Call) -> Outcome:
        """Makes the one outside call of `call.operation`, with our key and within the timeout. No repeats."""
        return Refused(reason=f"{self.name} declares no way to {call.operation}")

    @property
    def at_once(self) -> int:
        """How many acts one request of ours may carry."""
        return 1

    def send_all(self, calls: Sequence[Call]) -> list[Outcome]:
        """One request for up to `at_once` acts, each with its own outcome, in their order."""
        return [self.send(call) for call in calls]

    def look(self, call: Call) -> Sighting:
        """Reads the authoritative state for `call.operation`; for a compensation, found means the undoing is seen."""
        return Sighting(verdict=Verdict.INCONCLUSIVE, reason=f"{self.name} declares no look for {call.operation}")

    def poll(self, call: Call, poll: JsonObject) -> Outcome:
        """Asks how accepted work goes on: `Pending` again while it does."""
        return Unknown(reason=f"{self.name} declares no poll for {call.operation}")

    def before(self, call: Call) -> Sighting:
        """Reads what is to be kept of the state before the act: `FOUND` with the image as result."""
        return Sighting(verdict=Verdict.INCONCLUSIVE, reason=f"{self.name} keeps no image of what was before")

    def draft(self, call: Call) -> list[Draft]:
        """What `send` would do, in order, for a person to read. Calls nobody, asks for no secret."""
        told = {"arguments": call.arguments, "key": call.key}
        if call.operation == "compensate":
            told |= {"result": call.result, "forward key": call.forward_key}
        body = json.dumps(told, indent=2, ensure_ascii=False)
        return [Draft(line=f"{self.name}, {call.operation}", body=body, note=OUR_CODE)]

    def draft_look(self, call: Call) -> list[Draft]:
        """The same for `look`."""
        return [Draft(line=f"{self.name}, look after {call.operation}", reads=True, note=OUR_CODE)]

    def has(self, ability: str) -> bool:
        """Whether "execute", "compensate", "verify", "before" or "compensate.verify" is declared."""
        found: Any = self.spec
        for part in ability.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        return ability == "execute" or found is not None

    def promise(self, operation: str) -> dict[str, Any]:
        """What the manifest says of keys for "execute" or "compensate"."""
        found: dict[str, Any] = (self.spec if operation == "execute" else self.spec[operation])["idempotency"]
        return found

    def key_place(self, call: Call) -> str:
        """Where a key of this call is one key, by the scope that the manifest declares; "" where that is everywhere, or
        isn't known. It may hold secrets: only a print of it is kept."""
        return ""

    def timings(self, operation: str) -> Timings:
        """The times of "execute" or "compensate". `LookupError` where the operation isn't declared."""
        if operation not in self._timings:
            if not self.has(operation):
                raise LookupError(f"{self.name} declares no {operation}")
            self._timings[operation] = timings_of(self.spec, operation)
        return self._timings[operation]

    def scopes(self, call: Call) -> list[str]:
        """The canonical names of what this call touches, sorted. Raises `ExpressionError` where one can't be made."""
        names = self.names(call)
        return sorted({expressions.text_of(expressions.fill(scope, names)) for scope in self.spec.get("scopes", [])})

    def residue(self, call: Call, operation: str) -> str:
        """One sentence of what remains: after the act, or after it was undone ("" where undoing leaves nothing)."""
        if operation == "execute":
            text = self.profile["residue"]
        else:
            text = (self.spec.get("compensate") or {}).get("residue", "")
        return f"{expressions.fill_text(text, self.names(call))} {self._cost(call, operation)}".strip()

    def _cost(self, call: Call, operation: str) -> str:
        """What undoing it cost, in words; "" where no cost is declared, or it can't be told."""
        declared = (self.spec.get("compensate") or {}).get("cost") if operation == "compensate" else None
        if not declared:
            return ""
        try:
            cost = expressions.fill(declared, self.names(call))
            return f"Undoing it cost {money.shown(cost['amount'], cost['currency'])}."
        except (ExpressionError, TypeError):
            return "What undoing it cost is not known."

    def window_until(self, call: Call) -> str | None:
        """The moment after which this undoing isn't called any more, as declared; None where none is. Raises
        `ExpressionError` where it can't be told."""
        declared = (self.spec.get("compensate") or {}).get("window_until") if call.operation == "compensate" else None
        return None if declared is None else expressions.text_of(expressions.fill(declared, self.names(call)))

    def value(self, call: Call) -> dict[str, Any] | None:
        """`{"amount": integer minor units, "currency": ...}`, or None where none is declared or it can't be known."""
        declared = self.spec.get("value")
        if not declared:
            return None
        try:
            filled = expressions.fill(declared, self.names(call))
        except expressions.ExpressionError:
            return None
        sound = isinstance(filled["amount"], int) and not isinstance(filled["amount"], bool)
        return dict(filled) if sound and isinstance(filled["currency"], str) else None

    def check(self, arguments: object) -> list[Flaw]:
        """Everything wrong with these arguments by the tool's JSON Schema; paths begin "arguments"."""
        flaws = schema.flaws(self.spec["arguments"], arguments, root="arguments")
        if not flaws and isinstance(arguments, dict):
            flaws = exactness.flaws(self.spec, arguments)
        return flaws

    def names(self, call: Call) -> dict[str, Any]:
        """What an expression of this tool may speak of."""
        names: dict[str, Any] = {
            "args": call.arguments,
            "key": call.key,
            "run": call.run,
            "subject": call.subject,
            "input": call.input,
            "steps": call.steps,
            "env": environment.values(),
            "now": call.now,
            "sent": {"at": call.sent_at, "epoch": _epoch(call.sent_at)},
        }
        if call.operation == "compensate":
            names |= {"result": call.result, "before": call.before, "forward": {"key": call.forward_key}}
        return names


def _epoch(moment: str) -> int:
    """Whole seconds, rounded down: a search since then must not miss what came in the same second."""
    return int(dt.datetime.fromisoformat(moment).timestamp()) if moment else 0


def timings_of(spec: JsonObject, operation: str) -> Timings:
    """The times of one operation of a normalised spec; what a compensation leaves out was filled in at apply."""
    part: dict[str, Any] = spec.get(operation) or {}
    forward = operation == "execute"
    verify = spec.get("verify") if forward else part.get("verify")
    idempotency = spec["idempotency"] if forward else part["idempotency"]
    retry = spec["retry"] if forward else part["retry"]
    asks = verify or {"settle": 0.0, "every": 0.0, "looks": 0, "within": 0.0}
    poll = part.get("poll") or {"every": POLL_EVERY, "within": POLL_WITHIN}
    return Timings(
        timeout=part["timeout"],
        late=part["late"],
        settle=asks["settle"],
        every=asks["every"],
        looks=asks["looks"],
        within=asks["within"],
        attempts=retry["attempts"],
        first=retry["first"],
        max=retry["max"],
        retry_within=retry["within"],
        keyed=idempotency["by"] == "native_key",
        natural=idempotency["by"] == "natural_key",
        retention=idempotency.get("retention"),
        keeps=idempotency.get("keeps", "executed"),
        adopt=idempotency.get("adopt", "ours"),
        can_look=verify is not None,
        verifies=verify is not None and spec["profile"]["observability"] == "authoritative_read",
        window=part.get("window"),
        recheck=tuple(part.get("recheck", ())),
        poll_every=poll["every"],
        poll_within=poll["within"],
        # A mailbox that doesn't show a mail yet is no proof that the server didn't take it over.
        repeats=spec.get("kind") != "smtp",
    )

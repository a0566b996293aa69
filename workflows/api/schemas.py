"""The shapes of DESIGN 9 as JSON Schema: bodies are checked by them, and the OpenAPI page shows the same ones.

Answers are described here and checked by the tests; bodies refuse fields that they don't know.
"""

from __future__ import annotations

from typing import Any

from workflows.models.approval import ApprovalState
from workflows.outcomes import Verdict
from workflows.states import CaseState, EffectState, Kind, Phase, RunState, StepState, World

Schema = dict[str, Any]


def _object(required: str, **properties: Schema) -> Schema:
    """An object with all of these; `required` names those that must be there, "*" for all of them."""
    names = list(properties) if required == "*" else required.split()
    return {"type": "object", "required": names, "properties": properties}


def _body(required: str, **properties: Schema) -> Schema:
    return {**_object(required, **properties), "additionalProperties": False}


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _words(words: Any) -> Schema:
    return {"type": "string", "enum": [word.value for word in words]}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _text(most: int, description: str) -> Schema:
    return {"type": "string", "maxLength": most, "description": description}  # bounded by its column


def _name(most: int, description: str) -> Schema:
    """A text that must name something: one without any visible character would not."""
    return {**_text(most, description), "pattern": r"\S"}


TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
FLAG: Schema = {"type": "boolean"}
UUID: Schema = {"type": "string", "format": "uuid"}
MOMENT: Schema = {"type": "string", "format": "date-time"}
MAYBE_UUID: Schema = {"type": ["string", "null"], "format": "uuid"}
MAYBE_MOMENT: Schema = {"type": ["string", "null"], "format": "date-time"}
ANY_OBJECT: Schema = {"type": "object"}
MAYBE_OBJECT: Schema = {"type": ["object", "null"]}

# Bodies.

# Whole numbers that every reader of JSON keeps as they are; times a thousand they still fit the database.
AMOUNT: Schema = {"type": "integer", "minimum": 0, "maximum": 2**53 - 1}

START = _body(
    "subject",
    workflow=_name(200, "a workflow this agent may start; needed unless open"),
    version={"type": "integer", "minimum": 1, "maximum": 2**31 - 1, "description": "the current one if left out"},
    subject=_body(
        "type id",
        type=_name(100, "what it is: customer, invoice, ..."),
        id=_name(200, "its id in your world"),
        label=_text(300, "its name for people"),
    ),
    input={"type": "object", "description": "fits the workflow's input_schema"},
    external_id=_text(200, "your own name for this run"),
    open={"type": "boolean", "description": "true: you name the steps, one call each, and seal the run"},
    budget={
        **_body(
            "",
            money={
                "type": "object",
                "minProperties": 1,
                "patternProperties": {"^[A-Z]{3}$": AMOUNT},
                "additionalProperties": False,
                "description": "minor units by currency, such as {EUR: 5000}; of a currency not named there is none",
            },
            calls={**AMOUNT, "description": "sends, retries included"},
            effects={**AMOUNT, "description": "acts that change something outside"},
            customers={**AMOUNT, "description": "subjects whose things are touched, runs begun under this included"},
            seconds={**AMOUNT, "description": "time spent in calls; a call reserves its timeout"},
            of={**UUID, "description": "a run of yours whose budget this one shares, besides its own"},
        ),
        "minProperties": 1,
        "description": "what the run may spend; beyond it effects wait, `blocked` by `budget`",
    },
)
STEP = _body(
    "name tool arguments",
    name={
        "type": "string",
        "pattern": "^[A-Za-z_][A-Za-z0-9_-]{0,99}$",
        "description": "unique in its run; the same name and content again is the same step",
    },
    tool=_name(200, "a tool this agent may use"),
    arguments={"type": "object", "description": "fits the tool's input_schema; taken as they are, without expressions"},
    after={
        "type": "array",
        "items": TEXT,
        "maxItems": 1000,
        "description": "steps that must be done before; left out: the step before it; []: none",
    },
)
CANCEL = _body(
    "reason",
    reason=_name(2000, "why; people read it"),
    then={"type": "string", "enum": ["compensate", "hold"], "default": "compensate"},
)
NOTHING = _body("")

# Answers.

SUBJECT = _object("*", type=TEXT, id=TEXT, label=TEXT)
RESIDUE = _object(
    "*", effect=UUID, world=_words(World), statement=TEXT, owner=TEXT, customer_visible=FLAG, value=MAYBE_OBJECT
)
CASE = _object("*", id=TEXT, state=_words(CaseState), sentence=TEXT, owner=TEXT, deadline=MAYBE_MOMENT, url=TEXT)
BLOCKED = _object(
    "*",
    effect=MAYBE_UUID,
    step={"type": ["string", "null"]},
    reason=TEXT,
    by=_list({}),
    chain=_list({"type": "object", "description": "whom it waits for, and whom these wait for, nearest first"}),
    until=MAYBE_MOMENT,
)
STEP_SHAPE = _object(
    "*",
    name=TEXT,
    tool=TEXT,
    state=_words(StepState),
    arguments=MAYBE_OBJECT,
    result=MAYBE_OBJECT,
    effect=MAYBE_UUID,
    reason=TEXT,
    detail=TEXT,
)
EFFECT = _object(
    "*",
    id=UUID,
    kind=_words(Kind),
    step=TEXT,
    tool=TEXT,
    tool_version=NUMBER,
    state={**_words(EffectState), "description": "who moves next"},
    world={**_words(World), "description": "what was last proved of the outside"},
    reason=TEXT,
    blocked_by=_list({}),
    key=TEXT,
    digest=TEXT,
    scopes=_list(TEXT),
    fence=NUMBER,
    attempts=NUMBER,
    external_ref=TEXT,
    result=MAYBE_OBJECT,
    verified_at=MAYBE_MOMENT,
    verifiable=FLAG,
    compensates=MAYBE_UUID,
    compensated_by=MAYBE_UUID,
    residue=TEXT,
    owner=TEXT,
)
ATTEMPT = _object(
    "*",
    id=UUID,
    number=NUMBER,
    fence=NUMBER,
    started_at=MOMENT,
    ended_at=MAYBE_MOMENT,
    outcome={"type": "string", "description": "empty while nobody knows yet"},
    reason=TEXT,
    stale={"type": "boolean", "description": "its answer came after its lease was lost"},
    evidence=ANY_OBJECT,
)
LOOK = _object(
    "*",
    id=UUID,
    fence=NUMBER,
    begun_at=MOMENT,
    ended_at=MOMENT,
    verdict=_words(Verdict),
    reason=TEXT,
    reached=FLAG,
    counted=FLAG,
    stale=FLAG,
    evidence=ANY_OBJECT,
)
DECISION = _object(
    "*", id=UUID, act=TEXT, verdict=TEXT, policy=TEXT, rule=TEXT, reason=TEXT, inputs=ANY_OBJECT, at=MOMENT
)
APPROVAL = _object(
    "*",
    id=UUID,
    state={**_words(ApprovalState), "description": "granted is a yes that wasn't used yet; spent is one that was sent"},
    digest={"type": "string", "description": "sha256 over exactly what people are asked about"},
    reason={"type": "string", "description": "the policy's rule that asks"},
    policy=TEXT,
    needed={"type": "integer", "description": "how many people must say yes"},
    approved={"type": "integer", "description": "how many have"},
    asked_at=MOMENT,
    expires_at=MOMENT,
    decided_at=MAYBE_MOMENT,
    void_reason=TEXT,
    detail=TEXT,
)
EVIDENCE = {
    **_object("*", of={"enum": ["attempt", "look"]}, id=UUID, at=MOMENT, says=TEXT, evidence=ANY_OBJECT),
    "type": ["object", "null"],
    "description": "what the present knowledge rests on",
}
EFFECT_IN_FULL = _object(
    "*",
    **{name: part for name, part in EFFECT["properties"].items() if name != "attempts"},
    run=UUID,
    arguments=ANY_OBJECT,
    detail=TEXT,
    key_until={**MAYBE_MOMENT, "description": "until when our key keeps it from happening twice"},
    on_behalf_of={"type": "string", "description": "person:LOGIN or system:NAME for whom it was done; or empty"},
    attempts=_list(_ref("Attempt")),
    looks=_list(_ref("Look")),
    decisions=_list(_ref("Decision")),
    approvals=_list(_ref("Approval")),
    evidence=EVIDENCE,
    makes_good=MAYBE_UUID,
    made_good_by=_list(UUID),
)
HEAD = {
    "id": UUID,
    "workflow": TEXT,
    "version": NUMBER,
    "subject": SUBJECT,
    "external_id": TEXT,
    "phase": _words(Phase),
    "state": _words(RunState),
    "clean": {"type": ["boolean", "null"], "description": "null until over"},
    "sealed": FLAG,
}
RUN = _object(
    "*",
    **HEAD,
    input=ANY_OBJECT,
    steps=_list(_ref("Step")),
    effects=_list(_ref("Effect")),
    residue=_list(_ref("Residue")),
    cases=_list(_ref("Case")),
    blocked_by=_list(_ref("Blocked")),
    deadline=MAYBE_MOMENT,
    end_cause={"type": "string", "description": "why it turned back: step, cancel, deadline, person; or empty"},
    end_reason=TEXT,
)
RUN_IN_SHORT = _object("*", **HEAD, deadline=MAYBE_MOMENT, created_at=MOMENT, ended_at=MAYBE_MOMENT)
HEARD = _object(
    "*",
    id=UUID,
    new={"type": "boolean", "description": "whether this id of the source came for the first time"},
    looks={**NUMBER, "description": "how many effects are looked at because of it"},
    skew={"type": "number", "description": "seconds from its timestamp to our clock"},
)
DECLARED = _object("*", name=TEXT, version=NUMBER, description=TEXT, input_schema=ANY_OBJECT, profile=ANY_OBJECT)
FLAW = _object("*", path=TEXT, value={}, message=TEXT)
PROBLEM = _object(
    "type title status code detail",
    type=TEXT,
    title=TEXT,
    status=NUMBER,
    code=TEXT,
    detail=TEXT,
    errors=_list(FLAW),
)


def page_of(name: str) -> Schema:
    return _object("*", results=_list(_ref(name)), next={"type": ["string", "null"]})


COMPONENTS: dict[str, Schema] = {
    "Approval": APPROVAL,
    "Attempt": ATTEMPT,
    "Blocked": BLOCKED,
    "Cancel": CANCEL,
    "Case": CASE,
    "Decision": DECISION,
    "Heard": HEARD,
    "Declared": DECLARED,
    "Effect": EFFECT,
    "EffectInFull": EFFECT_IN_FULL,
    "Look": LOOK,
    "NewStep": STEP,
    "Nothing": NOTHING,
    "Problem": PROBLEM,
    "Residue": RESIDUE,
    "Run": RUN,
    "RunInShort": RUN_IN_SHORT,
    "Start": START,
    "Step": STEP_SHAPE,
    "DeclaredPage": page_of("Declared"),
    "RunPage": page_of("RunInShort"),
}

"""The building blocks of a manifest's shape: strict models, durations, and what every kind of tool declares."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from workflows.tools import defaults

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)(ms|s|m|h|d)")
LONGEST_DURATION = 3660 * defaults.DAY  # ten years and a bit: longer is a slip of the pen


class Strict(BaseModel):
    """Takes exactly its fields and exactly their types; an unknown field is named together with the known ones."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, populate_by_name=False)

    @model_validator(mode="before")
    @classmethod
    def _known(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            raise PydanticCustomError("not_a_map", "must be a map of fields")
        names = [field.alias or name for name, field in cls.model_fields.items()]
        unknown = [name for name in value if name not in names]
        if unknown:
            raise PydanticCustomError("unknown_fields", "", {"unknown": unknown, "known": names})
        return value


def seconds(value: Any) -> float:
    """The seconds of `5s`, `1.5h`, `90d`, `250ms`."""
    match = DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise PydanticCustomError("duration", "must be a duration like 500ms, 5s, 10m, 24h or 90d")
    length = float(match[1]) * UNITS[match[2]]
    if length > LONGEST_DURATION:
        raise PydanticCustomError("duration", "is longer than ten years")
    return length


def some_seconds(value: Any) -> float:
    if (length := seconds(value)) <= 0:
        raise PydanticCustomError("duration", "must be longer than nothing")
    return length


def retention(value: Any) -> float:
    return 0.0 if value == "unpublished" else some_seconds(value)


def timeout(value: Any) -> float:
    if (length := some_seconds(value)) > defaults.LONGEST_TIMEOUT:
        raise PydanticCustomError("duration", "must be at most 60s; longer work is pending, with a poll")
    return length


Duration = Annotated[float, BeforeValidator(seconds)]
PositiveDuration = Annotated[float, BeforeValidator(some_seconds)]
Retention = Annotated[float, BeforeValidator(retention)]
Timeout = Annotated[float, BeforeValidator(timeout)]
Text = Annotated[str, StringConstraints(min_length=1)]
ToolName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$", max_length=100)]
WorkflowName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_.-]*$", max_length=100)]
StepName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$", max_length=64)]
Version = Annotated[int, Field(ge=1, le=2**31 - 1)]
JsonMap = dict[str, Any]


class Profile(Strict):
    """What the tool can do to the world. Nothing here has a permissive default."""

    effect_class: Literal["read_only", "bufferable", "reversible", "reversible_with_cost", "irreversible"]
    access: Literal["read_only", "constrained_write", "write"]
    environment: Literal["trusted", "untrusted"]
    observability: Literal["authoritative_read", "weak_signal", "none"]
    autonomy: Literal["auto", "ask", "forbidden"]
    privileges: list[Text]
    owner: Text
    customer_visible: bool
    residue: str
    function: Text = "unstated"
    reliability: Text = "unstated"
    modality: Text = "unstated"


class Idempotency(Strict):
    """`retention: unpublished` is no time at all. `in_flight`, `mismatch`: conditions over an answer; `marker`: the
    header by which the provider says that an answer is a replay."""

    by: Literal["native_key", "natural_key", "none"]
    adopt: Literal["ours", "equal"] | None = None  # of a natural key: what found there counts as done
    retention: Retention | None = None
    scope: Literal["account", "endpoint", "credential", "global"] | None = None
    keeps: Literal["executed", "success", "all"] | None = None
    in_flight: Text | None = None
    mismatch: Text | None = None
    marker: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]{1,100}$")] | None = None


class Breaker(Strict):
    after: Annotated[int, Field(ge=1, le=1000)] = defaults.BREAKER_AFTER
    within: PositiveDuration = defaults.BREAKER_WITHIN


class Limits(Strict):
    concurrent: Annotated[int, Field(ge=1, le=1000)] = defaults.CONCURRENT
    per_minute: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    breaker: Breaker = Breaker()


class Retry(Strict):
    """Sends, the first included; what was proved not sent doesn't count."""

    attempts: Annotated[int, Field(ge=1, le=100)] = defaults.ATTEMPTS
    first: Duration = defaults.RETRY_FIRST
    max: Duration = defaults.RETRY_MAX
    within: PositiveDuration = defaults.RETRY_WITHIN


class Value(Strict):
    """Integer minor units and a currency, each literal or one expression."""

    amount: int | str
    currency: Text


class Asking(Strict):
    """When and how often to look; None is filled in from the forward look, else from the defaults."""

    settle: Duration | None = None
    every: PositiveDuration | None = None
    looks: Annotated[int, Field(ge=1, le=1000)] | None = None
    within: PositiveDuration | None = None


class Undoing(Strict):
    """What every compensation may declare; None is filled in from the forward part."""

    timeout: Timeout | None = None
    late: Duration | None = None
    idempotency: Idempotency | None = None
    retry: Retry | None = None
    window: PositiveDuration | None = None
    window_until: Text | None = None
    recheck: Annotated[list[PositiveDuration], Field(max_length=10)] = []
    fallbacks: list[ToolName] = []
    cost: Value | None = None
    residue: str = ""


class Hooks(Strict):
    """`names`: expressions over a signed message's `body` that give our key, or the provider's name of the thing."""

    source: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
    names: Annotated[list[Text], Field(min_length=1, max_length=10)]


class AnyTool(Strict):
    """The fields that every kind has; a kind adds `execute`, `verify`, `compensate` in its own shape."""

    version: Version
    kind: str
    profile: Profile
    idempotency: Idempotency | None = None
    scopes: list[Text] = []
    value: Value | None = None
    arguments: JsonMap = {"type": "object", "properties": {}, "additionalProperties": False}
    limits: Limits = Limits()
    retry: Retry = Retry()
    hooks: Hooks | None = None

"""The shape of a tool of kind http."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from workflows.tools import defaults
from workflows.tools.manifest.fields import (
    AnyTool,
    Asking,
    Duration,
    JsonMap,
    PositiveDuration,
    Strict,
    Text,
    Timeout,
    Undoing,
)

Reads = Literal["GET", "HEAD", "POST"]  # some searches are a POST
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


class Basic(Strict):
    username: Text
    password: Text


class Auth(Strict):
    """One of the three. `oauth` names a credential whose tokens the engine keeps and renews."""

    bearer: Text | None = None
    basic: Basic | None = None
    oauth: Annotated[str, StringConstraints(pattern=r"^[A-Z][A-Z0-9_]{0,63}$")] | None = None


class Request(Strict):
    url: Text
    headers: dict[str, str] = {}
    auth: Auth | None = None


class Poll(Strict):
    """`headers` and `auth` are those of the request that began the work, unless given."""

    url: Text
    headers: dict[str, str] | None = None
    auth: Auth | None = None
    every: PositiveDuration = defaults.POLL_EVERY
    within: PositiveDuration = defaults.POLL_WITHIN
    done: Text
    failed: Text | None = None
    result: JsonMap = {}


class Part(Strict):
    """A text, or a file by its content in base64."""

    name: Text
    value: str | None = None
    file: Text | None = None
    type: Text | None = None
    base64: Text | None = None


class Answered(Request):
    """A request whose answer is judged: the first true one of the four counts, in this order. `unauthorized`: it
    refuses who asked, not what; read before them all."""

    json_: Any = Field(default=None, alias="json")
    multipart: Annotated[list[Part], Field(min_length=1, max_length=50)] | None = None
    unauthorized: Text | None = None
    acknowledged: Text | None = None
    pending: Text | None = None
    poll: Poll | None = None
    temporary: Text | None = None
    refused: Text | None = None
    result: JsonMap = {}


class Batch(Strict):
    """One request for many effects. `json`: the whole body, around `${ items }`; `answers`: the list of their answers;
    `by`: the key that one (`item`) names."""

    max: Annotated[int, Field(ge=2, le=100)]
    json_: Any = Field(alias="json")
    answers: Text
    by: Text
    temporary: Text | None = None
    refused: Text | None = None


class Execute(Answered):
    """`version`: which state of the thing the write made; looks prove it by their own `version`."""

    method: Method
    batch: Batch | None = None
    version: Text | None = None
    timeout: Timeout = defaults.TIMEOUT
    late: Duration | None = None


class Match(Strict):
    """Which of several things a natural key means: a text, the fields it may stand in, and what is overlooked."""

    items: Text = "body.items"
    wants: Text
    fields: Annotated[list[Text], Field(min_length=1, max_length=10)]
    rules: list[Literal["trim", "nfc", "ascii_case", "case"]] = []


class Verify(Request, Asking):
    """A look: several, differs, found, absent are read in this order; the first true one counts. `match` gives them
    all, unless they are given. `next`: the address of the following page of a list."""

    method: Reads = "GET"
    json_: Any = Field(default=None, alias="json")
    unauthorized: Text | None = None
    several: Text | None = None
    gone: Text | None = None
    differs: Text | None = None
    found: Text | None = None
    absent: Text | None = None
    match: Match | None = None
    version: Text | None = None
    result: JsonMap = {}
    next: Text | None = None
    pages: Annotated[int, Field(ge=2, le=100)] | None = None


class Before(Request):
    method: Reads = "GET"
    keep: JsonMap
    version: Text | None = None


class Present(Request):
    """What stands, read right before each undoing: undone already, held by something else, or how much of it is left.
    `says`: who did it and when, for people."""

    method: Reads = "GET"
    done: Text | None = None
    blocked: Text | None = None
    remaining: Text | None = None
    says: str = ""


class Compensate(Answered, Undoing):
    """`partial`: a yes to a part of it, such as the future of a series that has begun."""

    method: Method
    before: Present | None = None
    partial: Text | None = None
    verify: Verify | None = None


class HttpTool(AnyTool):
    kind: Literal["http"]
    before: Before | None = None
    execute: Execute
    verify: Verify | None = None
    compensate: Compensate | None = None

"""The one family of errors that people and agents meet; the API and the commands say them in their own form."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True, slots=True)
class Flaw:
    """One thing wrong with an input: where (`path`, dotted from the input's own root), what stood there, what to do."""

    path: str
    value: object
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message} (here: {shown(self.value)})"


def shown(value: object, limit: int = 120) -> str:
    """The value as it may stand in a message: one line, bounded, no control characters."""
    text = ascii(value) if not isinstance(value, str) else repr(value)
    text = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


class MakegoodError(Exception):
    """Something the caller can act on."""

    code = "invalid"

    def __init__(self, detail: str = "", flaws: Sequence[Flaw] = ()) -> None:
        self.detail = detail or (self.__doc__ or "").split("\n", maxsplit=1)[0]
        self.flaws = tuple(flaws)
        super().__init__(self.detail)

    def __str__(self) -> str:
        return "\n".join([self.detail, *(f"  {flaw}" for flaw in self.flaws)])


class Invalid(MakegoodError):
    """The input is refused; nothing was written."""


class KeyMissing(MakegoodError):
    """The header Idempotency-Key is missing, repeated or not 1 to 255 visible ASCII characters."""

    code = "key_missing"


class Denied(MakegoodError):
    """This agent may not do that."""

    code = "denied"


class NotFound(MakegoodError):
    """There is no such thing, or it isn't yours."""

    code = "not_found"


class NameTaken(MakegoodError):
    """A step of this name was asked for already, with other content."""

    code = "name_taken"


class RunOver(MakegoodError):
    """The run has ended or is turning back; it takes nothing more."""

    code = "run_over"


class Sealed(MakegoodError):
    """The run is sealed; it takes no more steps."""

    code = "sealed"


class StaleFence(MakegoodError):
    """Somebody else holds this by now."""

    code = "stale_fence"


class TooLarge(MakegoodError):
    """The body is larger than what is taken."""

    code = "too_large"


class NoRoom(MakegoodError):
    """The disk is nearly full; nothing new is taken."""

    code = "unavailable"


class KeyReused(MakegoodError):
    """This Idempotency-Key came with another body before."""

    code = "key_reused"

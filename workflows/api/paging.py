"""One page of a list and the cursor of the next: keyset, so that a row present throughout appears exactly once.

The cursor is the last row's sort key, signed together with the list, its reader and its filters: in another's hand,
or over another question, it is refused rather than answered wrongly.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.core.signing import BadSignature, Signer

from workflows.api import query
from workflows.errors import Flaw, Invalid
from workflows.models import Agent

Row = TypeVar("Row")
LONGEST_CURSOR = 2000  # characters; ours are far below


class Pages:
    """The pages of one list for one agent under the filters of one query."""

    def __init__(self, name: str, agent: Agent, given: dict[str, str]) -> None:
        filters = {key: value for key, value in given.items() if key not in ("cursor", "limit")}
        self.limit = query.limit(given)
        self.signer = Signer(salt=json.dumps(["cursor", 1, name, str(agent.id), filters], sort_keys=True))
        self.after = self._read(given["cursor"]) if "cursor" in given else None

    def of(self, rows: Sequence[Row], key: Callable[[Row], str]) -> tuple[list[Row], str | None]:
        """`rows`: up to limit + 1, in order. The page, and the cursor of the next one if there is any."""
        page = list(rows[: self.limit])
        return page, (self._write(key(page[-1])) if len(rows) > self.limit else None)

    def _write(self, key: str) -> str:
        return base64.urlsafe_b64encode(self.signer.sign(key).encode()).decode().rstrip("=")

    def _read(self, cursor: str) -> str:
        try:
            if len(cursor) > LONGEST_CURSOR or not cursor.isascii():
                raise BadSignature
            padded = cursor + "=" * (-len(cursor) % 4)
            return self.signer.unsign(base64.b64decode(padded, altchars=b"-_", validate=True).decode())
        except (BadSignature, binascii.Error, UnicodeDecodeError) as error:
            message = "isn't a cursor of this list with these filters; begin again without one"
            raise Invalid(query.REFUSED, [Flaw("cursor", cursor, message)]) from error


def render(results: list[Any], following: str | None) -> dict[str, Any]:
    return {"results": results, "next": following}

"""One request as it would leave, made before anybody sends it: for the people who decide. No secret is in it."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """`line`: what is done to what. `digest`: what the attempt will keep of its request, "" where that isn't known.

    `reads`: it changes nothing. `note`: on what the rest depends. `flaw`: why it can't be made as things are.
    """

    line: str
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""
    digest: str = ""
    reads: bool = False
    note: str = ""
    flaw: str = ""

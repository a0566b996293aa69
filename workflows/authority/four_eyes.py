"""Whether one person may do what takes two. Asked by the verbs that want a second person."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from workflows.signals import glass_broken


def one_may(*, glass: bool) -> bool:
    """Where the installation says so; or as a breaking of the glass, which others review afterwards. Who may break it
    is asked before."""
    return glass or settings.FOUR_EYES == "when_possible"


def broken(thing: Any, *, by: str, why: str) -> dict[str, bool]:
    """What the journal says of it. Tells whoever keeps the reviews, in the transaction of the act itself; where one
    person may act anyway, no glass was broken."""
    if settings.FOUR_EYES == "when_possible":
        return {"alone": True}
    glass_broken.send(None, thing=thing, by=by, why=why)
    return {"alone": True, "glass": True}

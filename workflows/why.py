"""The reason that a person gives for an act: a sentence that somebody can read when the act is reviewed."""

from __future__ import annotations

from workflows.errors import Flaw, Invalid
from workflows.marked import _
from workflows.visible import is_hidden

LONGEST = 1000  # characters; a reason is a sentence or two, the rest belongs where the evidence lies


def reason(why: str) -> str:
    """The reason in one line, trimmed. Raises `Invalid` where there is none, or nothing of it can be seen."""
    text = " ".join(why.replace("\x00", "").split())
    if all(is_hidden(char) or char.isspace() for char in text):
        raise Invalid(_("Say why, in a sentence."), [Flaw("why", why[:80], _("says nothing"))])
    if len(text) > LONGEST:
        raise Invalid(
            _("Say why in at most {most} characters.", most=LONGEST),
            [Flaw("why", text[:80], _("has {size}", size=len(text)))],
        )
    return text

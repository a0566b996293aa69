"""Why a case is set aside until later: the list that people choose from. Time that nobody works on needs a reason."""

from __future__ import annotations

from repairs.words.marked import _

CAUSES = {
    "customer": _("Waits for the customer's answer"),
    "provider": _("Waits for the provider"),
    "desk": _("Waits for another desk"),
    "later": _("Can only be done at a later time"),
    "fix": _("Waits for a fix that is on its way"),
    "other": _("Set aside for another reason"),
}

# Nobody of ours can go on before the customer says something: then, and only then, the time of a case stands still. The
# other causes are ours to shorten, and a promise doesn't wait because we do.
STILL = frozenset({"customer"})


def rests(cause: str) -> str:
    """The cause as the beginning of a sentence; a word nobody knows any more is shown as it is."""
    return CAUSES.get(cause, cause)

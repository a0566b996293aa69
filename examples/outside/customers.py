"""The demo's customers: each brings its own trouble, as a test card does at a payment provider."""

from __future__ import annotations

from examples.outside.moods import Mood

# Longer than the CRM tool's timeout, and long enough to find a worker's pid and kill it by hand.
TIME_TO_KILL = 20.0

NO_CREDIT = "The credit check refused this customer."
LOCKED = "The event is locked by its organiser."


def standing(service: str) -> list[Mood]:
    """The moods that a service always has; anybody at one of these domains meets them."""
    return [mood for name, mood in _TROUBLES if name == service]


# acme.example brings none.
_TROUBLES: list[tuple[str, Mood]] = [
    ("calendar", Mood(customer="@bolt.example", method="PUT", does="drop", times=None)),
    (
        "crm",
        Mood(customer="@cobalt.example", path="*/activation", method="POST", does="refuse", text=NO_CREDIT, times=None),
    ),
    (
        "crm",
        Mood(customer="@delta.example", path="*/activation", method="POST", does="refuse", text=NO_CREDIT, times=None),
    ),
    ("calendar", Mood(customer="@delta.example", method="DELETE", does="refuse", status=403, text=LOCKED, times=None)),
    (
        "crm",
        Mood(
            customer="@ember.example", path="/contacts", method="POST", does="delay", seconds=TIME_TO_KILL, times=None
        ),
    ),
    ("inbox", Mood(customer="@flint.example", method="SMTP", does="drop", times=None)),
    ("audience", Mood(customer="@gale.example", method="PUT", does="malformed", times=None)),
]

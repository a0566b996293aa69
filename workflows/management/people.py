"""Who does something from the command line: a person by their login, for commands whose acts need one or two."""

from __future__ import annotations

from django.contrib.auth.models import User

from workflows.errors import Flaw, Invalid


def person_named(login: str | None) -> str:
    """As the journal names them. Raises `Invalid` for who isn't there or is switched off."""
    if not User.objects.filter(username=login or "", is_active=True).exists():
        raise Invalid("Say who does it.", [Flaw("--by", login, "must be the login of a person (create_person)")])
    return f"person:{login}"

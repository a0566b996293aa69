"""What an operator brings: a credential with its first grant, or a new grant for one that is there. For the command."""

from __future__ import annotations

import dataclasses
import json
import re
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction

from workflows import rows
from workflows.authority import credentials
from workflows.authority.sealing import seal
from workflows.errors import Flaw, Invalid
from workflows.models import Credential
from workflows.models.credential import Grant
from workflows.why import reason

NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
SECRET_NAME = NAME
VISIBLE = re.compile(r"[\x21-\x7e]+")
NOTHING = "Nothing was written."


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """None: as it is, where the credential is there already."""

    refresh: str | None = dataclasses.field(default=None, repr=False)  # None: the grant is of the client itself
    token_url: str | None = None
    client: str | None = None
    secret: str | None = None
    scope: str | None = None
    owner: str | None = None
    rotates: bool | None = None


def bring(name: str, new: Brought, *, by: str, why: str) -> Credential:
    """Keeps the grant sealed and lets go whoever waits for the credential. Raises `Invalid`, having written nothing."""
    why = reason(why)
    with transaction.atomic():
        now = rows.now()
        row = Credential.objects.filter(name=name).select_for_update().first()
        made = row or Credential(name=name, owner="operations", rotates=True, created_at=now)
        fresh = row is None
        for field in ("token_url", "client", "secret", "scope", "owner", "rotates"):
            if (value := getattr(new, field)) is not None:
                setattr(made, field, value)
        made.grant = Grant.CLIENT.value if new.refresh is None else Grant.REFRESH.value
        if flaws := _flaws(made, new.refresh):
            raise Invalid(NOTHING, flaws)
        made.replace(sealed=seal(json.dumps({"refresh": new.refresh})) if new.refresh else "")
        made.event = "bring" if fresh else made.event
        made.wanted_at = now
        try:
            credentials.write(made, now, by=by, payload={"why": why, "grant": made.grant})
        except IntegrityError as error:
            flaw = Flaw("NAME", name, "was made by somebody else at this moment; ask again")
            raise Invalid(NOTHING, [flaw]) from error
    credentials.wake([name])
    return made


def _flaws(row: Credential, refresh: str | None) -> list[Flaw]:
    found = []
    if not NAME.fullmatch(row.name):
        found.append(Flaw("NAME", row.name, "must be capitals, digits and _, beginning with a letter, at most 64"))
    url = urlsplit(row.token_url)
    if url.scheme not in ("http", "https") or not url.hostname or url.username or len(row.token_url) > 2000:
        shown = "an address with a login in it" if url.username else row.token_url
        found.append(Flaw("--token-url", shown, "must be the address of the token endpoint, like https://host/token"))
    if not row.client or len(row.client) > 300 or not row.client.isprintable():
        found.append(Flaw("--client", row.client, "must be the client's id at the token endpoint"))
    if row.secret and not SECRET_NAME.fullmatch(row.secret):
        found.append(Flaw("--client-secret", row.secret, "must be the NAME of a secret, not its value"))
    if len(row.scope) > 1000:
        found.append(Flaw("--scope", row.scope, "has more than 1000 characters"))
    if not row.owner or len(row.owner) > 100:
        found.append(Flaw("--owner", row.owner, "must be who is told when it is lost"))
    if refresh is not None and not VISIBLE.fullmatch(refresh):
        found.append(Flaw("the refresh token", f"{len(refresh)} characters", "must be visible characters, not none"))
    return found

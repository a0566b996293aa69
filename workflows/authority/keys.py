"""Makes, checks, rotates and revokes the keys of agents. A key's text is `mg_<prefix>_<secret>`; its digest is kept."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import hmac
import re
import secrets
from typing import Any

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from workflows import rows
from workflows.authority.acts import record
from workflows.errors import Flaw, Invalid, MakegoodError
from workflows.ledger import RUNS_CHANNEL
from workflows.models import Agent, AgentKey
from workflows.waiting import EVERYBODY

PREFIX_BYTES = 5  # 8 characters: enough to name a key in a log, too few to guess one
SECRET_BYTES = 25  # 200 bits; what has that many needs no salt and no slow hash
FORM = re.compile(r"mg_([a-z2-7]{8})_([a-z2-7]{40})")

# "Last used" answers whether a key can be taken away; a write per request would cost more than it tells.
USE_NOTED_EVERY = dt.timedelta(minutes=1)


class Unauthenticated(MakegoodError):
    """Send the header Authorization: Bearer <agent key>."""

    code = "unauthenticated"


def make_key(agent: Agent, *, expires_at: dt.datetime | None = None, on_behalf_of: str = "") -> str:
    """A new key's text. This is the only time that anybody sees it."""
    prefix, secret = _random(PREFIX_BYTES), _random(SECRET_BYTES)
    text = f"mg_{prefix}_{secret}"
    AgentKey.objects.create(
        agent=agent, prefix=prefix, digest=_digest(text), expires_at=expires_at, on_behalf_of=on_behalf_of
    )
    return text


def check_key(text: str) -> Agent:
    """The agent whose key this is. Raises Unauthenticated, which tells more only to who holds the true secret."""
    form = FORM.fullmatch(text)
    key = _read(AgentKey.objects.filter(prefix=form[1])) if form else None
    if not hmac.compare_digest(key.digest if key else _digest(""), _digest(text)) or key is None:
        raise Unauthenticated("This key isn't known. Ask who runs this installation for one (create_agent).")
    _still_good(key)
    if key.last_used_at is None or key.last_used_at <= key.now - USE_NOTED_EVERY:
        _note_use(key)
    agent: Agent = key.agent
    agent.key = key
    return agent


def check_again(agent: Agent) -> None:
    """Raises Unauthenticated where the key of this request was taken away since: for requests that wait."""
    if agent.key is not None:
        key = _read(AgentKey.objects.filter(id=agent.key.id))
        assert key is not None
        _still_good(key)


def new_key(agent: Agent, *, by: str, why: str = "", expires_at: dt.datetime | None = None, for_whom: str = "") -> str:
    """One more key beside those there are; its text."""
    with transaction.atomic():
        text = make_key(agent, expires_at=expires_at, on_behalf_of=for_whom)
        record(agent, "new_key", by=by, why=why, key=prefix_of(text), **_told(expires_at), on_behalf_of=for_whom)
    return text


def rotate_key(
    key: AgentKey, *, by: str, overlap: dt.timedelta, why: str = "", life: dt.timedelta | None = None
) -> str:
    """A new key for the same party; the old one opens for `overlap` longer, and not beyond its own end."""
    with transaction.atomic():
        key = _locked(key)
        now = rows.now()
        end = min(filter(None, (now + overlap, key.expires_at)))
        expires_at = now + life if life else None
        text = make_key(key.agent, expires_at=expires_at, on_behalf_of=key.on_behalf_of)
        AgentKey.objects.filter(id=key.id).update(expires_at=end)
        told = {"key": prefix_of(text), "old": key.prefix, "old_ends": end.isoformat(), **_told(expires_at)}
        record(key.agent, "rotate_key", by=by, why=why, **told)
        wake_waiters()
    return text


def revoke_key(key: AgentKey, *, by: str, why: str) -> None:
    """Ends a key now, for requests that wait too. Raises `Invalid` where it is revoked already."""
    with transaction.atomic():
        key = _locked(key)
        AgentKey.objects.filter(id=key.id).update(revoked_at=rows.now())
        record(key.agent, "revoke_key", by=by, why=why, key=key.prefix)
        wake_waiters()


def prefix_of(text: str) -> str:
    """Of a key's text, or of what names one already."""
    form = FORM.fullmatch(text.strip())
    return form[1] if form else text.strip().removeprefix("mg_").rstrip("…")


def _locked(key: AgentKey) -> AgentKey:
    found = AgentKey.objects.select_related("agent").select_for_update(of=("self",)).get(id=key.id)
    if found.revoked_at:
        flaw = Flaw("key", found.prefix, f"was revoked at {found.revoked_at.isoformat(timespec='seconds')}")
        raise Invalid("Nothing was changed.", [flaw])
    return found


def wake_waiters() -> None:
    """Who waits with this key is asked for it again at once."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [RUNS_CHANNEL, EVERYBODY])


def _told(expires_at: dt.datetime | None) -> dict[str, str]:
    return {"expires_at": expires_at.isoformat()} if expires_at else {}


def _read(keys: QuerySet[AgentKey]) -> Any:
    """None, or the key with `now` by the database's clock: keys end by one clock, whichever host asks."""
    return keys.select_related("agent").annotate(now=Now()).first()


def _still_good(key: Any) -> None:
    if key.revoked_at:
        raise Unauthenticated(f"Key {key} was revoked at {key.revoked_at.isoformat()}. Ask for a new one.")
    if key.expires_at and key.expires_at <= key.now:
        raise Unauthenticated(f"Key {key} expired at {key.expires_at.isoformat()}. Ask for a new one.")
    if not key.agent.active:
        raise Unauthenticated(f"The agent {key.agent} isn't active any more.")


def _note_use(key: Any) -> None:
    """Of requests at the same moment one writes; the others find it done."""
    stale = Q(last_used_at__isnull=True) | Q(last_used_at__lte=key.now - USE_NOTED_EVERY)
    AgentKey.objects.filter(stale, id=key.id).update(last_used_at=key.now)


def _random(size: int) -> str:
    return base64.b32encode(secrets.token_bytes(size)).decode().lower()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()

"""Makes and checks the keys of agents. A key's text is `mg_<prefix>_<secret>`; only its digest is kept."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import hmac
import re
import secrets

from django.db.models import Q
from django.utils import timezone

from workflows.errors import MakegoodError
from workflows.models import Agent, AgentKey

PREFIX_BYTES = 5  # 8 characters: enough to name a key in a log, too few to guess one
SECRET_BYTES = 25  # 200 bits; what has that many needs no salt and no slow hash
FORM = re.compile(r"mg_([a-z2-7]{8})_([a-z2-7]{40})")

# "Last used" answers whether a key can be taken away; a write per request would cost more than it tells.
USE_NOTED_EVERY = dt.timedelta(minutes=1)


class Unauthenticated(MakegoodError):
    """Send the header Authorization: Bearer <agent key>."""

    code = "unauthenticated"


def make_key(agent: Agent, *, expires_at: dt.datetime | None = None) -> str:
    """A new key's text. This is the only time that anybody sees it."""
    prefix, secret = _random(PREFIX_BYTES), _random(SECRET_BYTES)
    text = f"mg_{prefix}_{secret}"
    AgentKey.objects.create(agent=agent, prefix=prefix, digest=_digest(text), expires_at=expires_at)
    return text


def check_key(text: str) -> Agent:
    """The agent whose key this is. Raises Unauthenticated, which tells more only to who holds the true secret."""
    form = FORM.fullmatch(text)
    key = AgentKey.objects.select_related("agent").filter(prefix=form[1]).first() if form else None
    if not hmac.compare_digest(key.digest if key else _digest(""), _digest(text)) or key is None:
        raise Unauthenticated("This key isn't known. Ask who runs this installation for one (create_agent).")
    now = timezone.now()
    if key.revoked_at:
        raise Unauthenticated(f"Key {key} was revoked at {key.revoked_at.isoformat()}. Ask for a new one.")
    if key.expires_at and key.expires_at <= now:
        raise Unauthenticated(f"Key {key} expired at {key.expires_at.isoformat()}. Ask for a new one.")
    if not key.agent.active:
        raise Unauthenticated(f"The agent {key.agent} isn't active any more.")
    if key.last_used_at is None or key.last_used_at <= now - USE_NOTED_EVERY:
        _note_use(key, now)
    return key.agent


def _note_use(key: AgentKey, now: dt.datetime) -> None:
    """Of requests at the same moment one writes; the others find it done."""
    stale = Q(last_used_at__isnull=True) | Q(last_used_at__lte=now - USE_NOTED_EVERY)
    AgentKey.objects.filter(stale, id=key.id).update(last_used_at=now)


def _random(size: int) -> str:
    return base64.b32encode(secrets.token_bytes(size)).decode().lower()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()

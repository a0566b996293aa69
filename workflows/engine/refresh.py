"""Renews tokens: one process at a time asks, and what it was told is kept before anybody uses it.

1. Claim, in one transaction: who is wanted is `renewing` under a lease. Commit, as before any act outside.
2. Ask the token endpoint, outside any transaction.
3. Record under the same fence: a new token, later again, or lost for good. Then whoever waits is woken.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from concurrent.futures import Executor, Future

from django.db import transaction
from django.db.models import Q

from workflows import rows
from workflows.authority import credentials
from workflows.authority.sealing import Unsealable, seal, unseal
from workflows.models import Credential
from workflows.models.credential import CredentialState, Grant
from workflows.policies import backoff
from workflows.tools import oauth
from workflows.tools.oauth import Answered, Asking, Denied, Later, Renewed, Unclear

LEASE = dt.timedelta(seconds=oauth.TIMEOUT + 20)  # as of sends: the longest answer, and time to record it
FIRST, MOST = 1.0, 60.0  # seconds between two tries while the endpoint is in trouble
AT_ONCE = 8  # credentials in one claim

Asked = tuple[Credential, Asking]


def claim() -> list[Asked]:
    """The credentials that are wanted and that nobody is asking for. Gives up those whose asker is gone."""
    credentials.wanted.clear()
    asked: list[Asked] = []
    lost: list[str] = []
    with transaction.atomic():
        now = rows.now()
        for row in _due(now):
            if row.state == CredentialState.RENEWING:
                _apply(row, Unclear(reason="whoever asked for a new token is gone"), now)
            else:
                row.ask(lease_until=now + LEASE)
                if (asking := _asking(row)) is None:
                    row.event = ""
                    row.lose(why="what is kept of it was sealed under another install secret")
                else:
                    asked.append((row, asking))
            if row.state == CredentialState.LOST:
                lost.append(row.name)
            credentials.write(row, now)
    if lost:
        credentials.wake(lost)  # who waited for a token is told now that none comes
    return asked


def _due(now: dt.datetime) -> list[Credential]:
    timely = Q(wanted_at__isnull=False, state=CredentialState.READY.value) & (Q(ask_at=None) | Q(ask_at__lte=now))
    gone = Q(state=CredentialState.RENEWING.value, lease_until__lte=now)
    found = Credential.objects.filter(timely | gone).order_by("name")
    return list(found.select_for_update(skip_locked=True)[:AT_ONCE])


def _asking(row: Credential) -> Asking | None:
    """None where what is sealed can't be opened."""
    try:
        refresh = json.loads(unseal(row.sealed)).get("refresh", "") if row.sealed else ""
    except Unsealable:
        return None
    return Asking(
        credential=row.name,
        url=row.token_url,
        grant=row.grant,
        client=row.client,
        secret=row.secret,
        scope=row.scope,
        refresh=refresh,
    )


def begin(asked: Sequence[Asked], pool: Executor) -> list[tuple[Asked, Future[Answered]]]:
    return [(one, pool.submit(oauth.ask, one[1])) for one in asked]


def record(answered: Sequence[tuple[Asked, Answered]]) -> None:
    """Keeps what each endpoint said, and wakes whoever waited. What came to another fence is of an old grant."""
    names = []
    with transaction.atomic():
        now = rows.now()
        for (old, asking), answer in sorted(answered, key=lambda one: one[0][0].name):
            row = Credential.objects.select_for_update().get(id=old.id)
            late = row.state == CredentialState.LOST and isinstance(answer, Renewed)  # it was waited for in vain
            if row.fence != old.fence or (row.state != CredentialState.RENEWING and not late):
                continue
            _apply(row, answer, now, asking.refresh)
            credentials.write(row, now, payload={"generation": row.generation, "expires_at": row.expires_at})
            names.append(row.name)
    if names:
        credentials.wake(names)


def _apply(row: Credential, answer: Answered, now: dt.datetime, refresh: str = "") -> None:
    """A refresh token that is used once may be used up by a request whose answer was lost: then nothing is left."""
    match answer:
        case Renewed():
            sealed = seal(json.dumps({"access": answer.access, "refresh": answer.refresh or refresh}))
            ends = None if answer.lives is None else now + dt.timedelta(seconds=answer.lives)
            row.renew(sealed=sealed, expires_at=ends)
        case Denied():
            row.lose(why=answer.reason)
        case Unclear() if row.grant == Grant.REFRESH and row.rotates:
            row.lose(why=f"{answer.reason}; its refresh token may be used up")
        case Unclear() | Later():
            asked = answer.retry_after if isinstance(answer, Later) else None
            ask_at = backoff.after(now, FIRST, row.backoffs, MOST, salt=row.name)
            ask_at = max(ask_at, now + dt.timedelta(seconds=asked)) if asked else ask_at
            row.put_off(why=answer.reason, ask_at=ask_at)

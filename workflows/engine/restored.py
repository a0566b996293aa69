"""After a restore everything but looks is frozen until an operator says that work may go on. For drains and `recover`.

What happened since the backup is not in this database. Keys are the same again, so a provider that honours them books
nothing twice; of what was about to be sent, the world is asked first wherever one can look.
"""

from __future__ import annotations

import uuid

from django.db import DatabaseError, connection, transaction

from workflows import ledger, rows
from workflows.authority import stops
from workflows.engine.parts.asked_first import look_first as world_first
from workflows.fetch import fetch
from workflows.models import Effect, Install, Stop
from workflows.toolbox import give_tools, times_of

WHY = "The database is another one than before: it was restored or moved. What happened since is not known here."
BATCH = 500  # effects in one transaction


def check() -> Stop | None:
    """Freezes everything where the database's identity differs from the one last seen. At the start of each drain, so
    that none works on a restored database before; the first one to come keeps the identity."""
    now_here = identity()
    if not now_here:
        return None
    with transaction.atomic():
        now = rows.now()
        install, new = Install.objects.get_or_create(id=1, defaults={"identity": now_here, "since": now})
        if new or install.identity == now_here:
            return None
        install = Install.objects.select_for_update().get(id=1)
        if install.identity == now_here:
            return None  # another drain was first; its stop is committed
        stop = stops.freeze("everything", by=ledger.ENGINE, why=WHY, second_person=False, cause="restored").stop
        install.identity, install.since = now_here, now
        install.save()
    look_first()
    return stop


def declare(*, by: str, why: str) -> Stop:
    """The same by an operator's word, where the server is the same and only its content was restored."""
    stop = stops.freeze("everything", by=by, why=why or WHY, second_person=False, cause="restored").stop
    look_first()
    return stop


def identity() -> str:
    """Of the server (initdb), its timeline (a recovery or failover begins a new one), and the database in it; "" where
    this server tells nobody."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(IDENTITY)
            return str(cursor.fetchone()[0])
    except DatabaseError:
        return ""


IDENTITY = """
SELECT (SELECT system_identifier FROM pg_control_system()) || ':' || (SELECT timeline_id FROM pg_control_checkpoint())
  || ':' || (SELECT oid FROM pg_database WHERE datname = current_database())
"""


def look_first() -> int:
    """Has the world asked before anything is sent that was due, or waited for anything but what goes before it; how
    many. It may have been sent since the backup."""
    number, last = 0, NIL
    while effects := _some(last):
        number, last = number + len(effects), effects[-1].id
    return number


def _some(after: uuid.UUID) -> list[Effect]:
    with transaction.atomic():
        now = rows.now()
        effects = fetch(Effect, DUE, [after, BATCH])
        give_tools(effects)
        asked = [effect for effect in effects if times_of(effect).verifies]
        for effect in asked:
            world_first(effect, "the database was restored", now)
        ledger.save_effects(asked, now=now)
        return effects


DUE = """
WHERE t.id > %s AND (t.state = 'ready' OR (t.state = 'blocked' AND (t.reason NOT IN ('dependency', 'gate')
  OR (t.reason = 'dependency' AND t.due_at IS NULL))))
ORDER BY t.id LIMIT %s FOR UPDATE
"""
NIL = uuid.UUID(int=0)

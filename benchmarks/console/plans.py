"""What a page's statements read: how PostgreSQL plans each, whole tables among it, and rows looked at in vain."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from django.db import connection

BIG = (
    "workflows_run", "workflows_step", "workflows_effect", "workflows_attempt", "workflows_look", "workflows_decision",
    "workflows_entry", "workflows_payload", "workflows_approval", "workflows_approvalvote", "workflows_reservation",
    "repairs_case", "repairs_act", "repairs_notice", "repairs_batchitem", "repairs_worked", "repairs_evidence",
)  # fmt: skip
PART = re.compile(r"_(rest|\d{4}_\d{2})$")  # of a table that is partitioned by month
# A whole table only where there is no other way. A page that asked the database's clock has switched off more.
BY_INDEX = tuple(
    f"SET LOCAL {name}"
    for name in ("enable_seqscan=off", "jit=off", *(f"enable_{w}=on" for w in ("bitmapscan", "hashjoin", "mergejoin")))
)
FEW = 64  # pages of 8 kB: a partition without rows is soonest read whole


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """`whole`: big tables that are read from end to end; `rows`: the most that one scan looked at."""

    sql: str
    whole: tuple[str, ...]
    rows: int


VALUES = re.compile(r"'(?:[^']|'')*'|\b\d+\b")
_planned: dict[str, Plan] = {}


def plans(statements: Iterable[str], *, run: bool) -> list[Plan]:
    """Of what reads. `run`: execute them too, to count what they looked at, and pass over tables of a few pages.
    Otherwise the same statement with other values isn't planned again."""
    found = []
    with connection.cursor() as cursor:
        few = small(cursor) if run else frozenset()
        if not run:
            for setting in BY_INDEX:
                cursor.execute(setting)
        for sql in statements:
            shape = VALUES.sub("?", sql)
            if not run and shape in _planned:
                found.append(_planned[shape])
                continue
            if not sql.lstrip("( \n").upper().startswith(("SELECT", "WITH")):
                continue
            cursor.execute(
                f"EXPLAIN (FORMAT JSON{', ANALYZE, TIMING OFF' if run else ''}) {sql.replace('%', '%%')}", []
            )
            answer = cursor.fetchone()[0]
            nodes = list(walk((json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"]))
            whole = {table for node in nodes if (table := read_whole(node)) and node["Relation Name"] not in few}
            found.append(Plan(sql, tuple(sorted(whole)), max((looked_at(node) for node in nodes), default=0)))
            _planned[shape] = found[-1]
    return found


def small(cursor: Any) -> frozenset[str]:
    cursor.execute("SELECT relname FROM pg_class WHERE relkind = 'r' AND pg_relation_size(oid) < %s", [FEW * 8192])
    return frozenset(name for (name,) in cursor.fetchall())


def walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for below in node.get("Plans", ()):
        yield from walk(below)


def read_whole(node: dict[str, Any]) -> str:
    """The big table that this node reads from end to end, or ""."""
    table = PART.sub("", node.get("Relation Name", ""))
    return table if node["Node Type"] == "Seq Scan" and table in BIG else ""


def looked_at(node: dict[str, Any]) -> int:
    if PART.sub("", node.get("Relation Name", "")) not in BIG:
        return 0
    vain = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return int((node.get("Actual Rows", 0) + vain) * node.get("Actual Loops", 1))

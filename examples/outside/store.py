"""A service's own storage: documents by kind and name in one SQLite file, each with its version before."""

from __future__ import annotations

import json
import sqlite3
import threading
from pathlib import Path
from typing import Any

Document = dict[str, Any]


class Store:
    """Safe from several threads. A removed document keeps its row: its name is never given again."""

    def __init__(self, file: Path) -> None:
        self._lock = threading.RLock()
        # One connection under one lock: these services are small.
        self._db = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
        self._db.execute(
            "create table if not exists things (kind text, name text, now text, before text, primary key (kind, name))"
        )

    def __enter__(self) -> Store:
        """Several calls as one."""
        self._lock.acquire()
        return self

    def __exit__(self, *exc: object) -> None:
        self._lock.release()

    def close(self) -> None:
        self._db.close()

    def new_name(self, kind: str, prefix: str) -> str:
        (count,) = self._one("select count(*) from things where kind = ?", kind) or (0,)
        return f"{prefix}-{1001 + count}"

    def put(self, kind: str, name: str, document: Document | None) -> None:
        """Writes, or with None removes."""
        now = None if document is None else json.dumps(document)
        with self._lock:
            self._db.execute(
                "insert into things (kind, name, now) values (?, ?, ?)"
                " on conflict do update set before = things.now, now = excluded.now",
                (kind, name, now),
            )

    def get(self, kind: str, name: str, *, stale: bool = False) -> Document | None:
        row = self._one("select now, before from things where kind = ? and name = ?", kind, name)
        text = row and row[1 if stale else 0]
        return json.loads(text) if text else None

    def find(self, kind: str, *, stale: bool = False, **fields: str) -> list[Document]:
        """Documents whose fields are these, oldest first."""
        with self._lock:
            rows = self._db.execute("select now, before from things where kind = ? order by rowid", (kind,)).fetchall()
        texts = [row[1 if stale else 0] for row in rows]
        documents: list[Document] = [json.loads(text) for text in texts if text]
        return [d for d in documents if all(d.get(name) == value for name, value in fields.items())]

    def _one(self, query: str, *values: str) -> Any:
        with self._lock:
            return self._db.execute(query, values).fetchone()

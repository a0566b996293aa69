"""One-row inserts: what this server and disk give to whoever commits a row at a time. The measure of the machine."""

from __future__ import annotations

import re
import subprocess
import tempfile
import threading
import time
import uuid
from pathlib import Path

import psycopg

from config.house.place import BINARIES

TABLE = "CREATE TABLE IF NOT EXISTS rows (id uuid PRIMARY KEY, body text NOT NULL)"
SCRIPT = "INSERT INTO rows (id, body) VALUES (gen_random_uuid(), repeat('x', 200));\n"


def per_second(url: str, clients: int, seconds: float) -> tuple[str, float]:
    """(what measured it, rows a second). pgbench comes with the embedded server; a loop of ours stands in for it."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(TABLE)
    program = BINARIES / "bin" / "pgbench"
    if program.exists():
        return "pgbench", _pgbench(program, url, clients, seconds)
    return "psycopg loop", _loop(url, clients, seconds)


def _pgbench(program: Path, url: str, clients: int, seconds: float) -> float:
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(SCRIPT)
        script.flush()
        words = [str(program), "--no-vacuum", "--protocol=prepared", f"--file={script.name}"]
        words += [f"--client={clients}", f"--jobs={min(clients, 2)}", f"--time={max(1, round(seconds))}", url]
        said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    found = re.search(r"^tps = ([0-9.]+)", said, re.MULTILINE)
    assert found, said
    return float(found[1])


def _loop(url: str, clients: int, seconds: float) -> float:
    counts = [0] * clients
    end = time.monotonic() + seconds

    def insert(slot: int) -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            while time.monotonic() < end:
                connection.execute("INSERT INTO rows (id, body) VALUES (%s, repeat('x', 200))", [uuid.uuid4()])
                counts[slot] += 1

    threads = [threading.Thread(target=insert, args=(slot,)) for slot in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / seconds

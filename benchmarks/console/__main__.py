"""`python -m benchmarks.console [--effects N] [--cases M]`: loads a ledger and measures every page. See README.md."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import django

from benchmarks import server
from config.house import folder
from config.house.errors import SetupError

if TYPE_CHECKING:
    from benchmarks.console.measure import Taken

REFUSED = 2


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.console", description=__doc__)
    parser.add_argument("--effects", type=int, default=5_000_000)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument(
        "--database", help="a server of yours instead of a fresh embedded one; bench_console is made on it"
    )
    parser.add_argument("--keep", action="store_true", help="leave bench_console there, to be measured again")
    parser.add_argument("--again", action="store_true", help="measure what an earlier run with --keep loaded")
    parser.add_argument("--only", default="", help="pages whose name or address holds this")
    options = parser.parse_args()
    try:
        if options.database:
            return measure(options.database, options)
        with server.own_server(folder.data_folder() / "bench") as url:
            return measure(url, options)
    except KeyboardInterrupt:
        return 130
    except (server.NotAlone, SetupError) as problem:
        print(f"Refused. {problem}", file=sys.stderr)
        return REFUSED


def measure(url: str, options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="makegood-bench-") as home:
        os.environ["MAKEGOOD_DATA"] = home
        os.environ["DATABASE_URL"] = server.at(url, NAME) if options.again else server.made(url, NAME)
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        django.setup()
        from django.core.management import call_command

        from benchmarks.console import report  # only once Django is set up

        try:
            call_command("migrate", verbosity=0)
            if not options.again:
                fill(options.effects, options.cases)
            taken = list(all_of(options.only))
            print(report.text(taken))
            return int(any(report.flaws(one) for one in taken))
        finally:
            if not (options.keep or options.again):
                django.db.connections.close_all()
                server.dropped(url, NAME)


NAME = "bench_console"


def fill(effects: int, cases: int) -> None:
    from django.db import connection

    from benchmarks.console.load import load

    begun = time.monotonic()
    load(effects, cases, say=lambda line: print(f"{time.monotonic() - begun:6.0f} s  {line}", flush=True))
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("SELECT pg_size_pretty(pg_database_size(current_database()))")
        print(f"{time.monotonic() - begun:6.0f} s  loaded, {cursor.fetchone()[0]}", flush=True)


def all_of(only: str) -> Iterator[Taken]:
    from benchmarks.console import measure, report
    from benchmarks.console.declared import VIEWERS
    from benchmarks.console.pages import pages

    addresses = [(name, address) for name, address in pages() if only in name or only in address]
    for viewer in VIEWERS:
        client = measure.browser(viewer.login)
        for name, address in addresses:
            for taken in measure.take(client, name, address, viewer.login):
                if taken.status == 200:
                    print(report.line(taken), flush=True)
                    yield taken


if __name__ == "__main__":
    sys.exit(main())

"""`make bench [ROUNDS=3] [SECONDS=8]`: measures, and prints ratios, then figures. See README.md for what they mean."""

from __future__ import annotations

import argparse
import functools
import os
import platform
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import django

from benchmarks import inserts, peers, report, server
from benchmarks.peers import environment
from config.house import folder
from config.house.errors import SetupError

REFUSED = 2
LATENCIES = 60
Contestant = Callable[[], float]


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=8.0, help="of each measure")
    parser.add_argument("--alone", action="store_true", help="without the peers")
    parser.add_argument("--decision", action="store_true", help="only what a policy decision adds to a dispatch")
    parser.add_argument("--database", help="a server of yours instead of a fresh embedded one; bench_* are made on it")
    options = parser.parse_args()
    try:
        if options.database:
            return measure(options.database, options)
        with server.own_server(folder.data_folder() / "bench") as url:
            return measure(url, options)
    except KeyboardInterrupt:
        return 130
    except (server.NotDurable, server.NotAlone, SetupError) as problem:
        print(f"Refused. {problem}", file=sys.stderr)
        return REFUSED


def measure(url: str, options: argparse.Namespace) -> int:
    settings = server.checked(url)
    python = None if options.alone or options.decision else environment.python()
    print(f"PostgreSQL {', '.join(f'{k} {v}' for k, v in settings.items())}", flush=True)
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores", flush=True)
    with tempfile.TemporaryDirectory(prefix="makegood-bench-") as home:
        os.environ["MAKEGOOD_DATA"] = home
        os.environ["DATABASE_URL"] = server.made(url, "bench_makegood")
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        django.setup()
        from benchmarks import decision, ledger  # only once Django is set up

        ledger.prepare()
        if options.decision:
            print(decision.text())
            return 0
        latencies = ledger.latencies(LATENCIES if options.seconds >= 5 else LATENCIES // 3)
        figures: dict[str, list[float]] = defaultdict(list)
        who = list(contestants(url, options.seconds, python, ledger.per_second).items())
        for number in range(options.rounds):
            for name, contestant in who[number % len(who) :] + who[: number % len(who)]:
                figures[name].append(contestant())
                print(f"round {number + 1}: {figures[name][-1]:8.0f}/s  {name}", flush=True)
        print(report.text({name: figures[name] for name, _ in who}, latencies, settings))
    return 0


def contestants(
    url: str, seconds: float, python: Path | None, makegood: Callable[[int, float], float]
) -> dict[str, Contestant]:
    rows = server.made(url, "bench_rows")
    source, _ = inserts.per_second(rows, 1, 1)
    found: dict[str, Contestant] = {
        report.ONE: functools.partial(makegood, 1, seconds),
        report.TWO: functools.partial(makegood, 2, seconds),
    }
    for clients in (1, 8):
        name = f"one-row inserts, {source}, {_number(clients, 'client')}"
        found[name] = functools.partial(lambda clients: inserts.per_second(rows, clients, seconds)[1], clients)
    return found | (of_peers(url, seconds, python) if python else {})


def of_peers(url: str, seconds: float, python: Path) -> dict[str, Contestant]:
    found: dict[str, Contestant] = {}
    for peer in peers.PROGRAMS:
        own = server.made(url, f"bench_{peer.lower()}")
        for processes, threads in ((1, 1), (1, 8), (2, 8)):
            name = f"{peer}, {_number(processes, 'process', 'es')} of {_number(threads, 'thread')}"
            found[name] = functools.partial(
                peers.per_second, peer, python, own, processes=processes, threads=threads, seconds=seconds
            )
    return found


def _number(count: int, noun: str, plural: str = "s") -> str:
    return f"{count} {noun}{plural if count > 1 else ''}"


if __name__ == "__main__":
    sys.exit(main())

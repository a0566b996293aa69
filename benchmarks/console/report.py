"""What was measured, as lines: the worst first, and what breaks a promise."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.console.measure import Taken

STATEMENTS, MEDIAN = 12, 150.0  # of a page at most; milliseconds
ROWS = 25_000  # looked at by one scan: a count goes to 10,000, and some of what it passes isn't counted
WORST = 25


def flaws(taken: Taken) -> list[str]:
    found = [f"reads all of {table}" for table in taken.whole]
    if taken.file:
        return found
    if taken.statements > STATEMENTS:
        found.append(f"{taken.statements} statements")
    if taken.median >= MEDIAN:
        found.append(f"{taken.median:.0f} ms")
    if taken.rows > ROWS:
        found.append(f"looks at {taken.rows:,} rows")
    return found


def line(taken: Taken) -> str:
    said = (
        f"{taken.median:7.1f} ms, busy {taken.worked:6.1f} {taken.statements:3} statements {taken.rows:8,} rows"
        f" {taken.bytes // 1024:5} kB"
    )
    broken = f"  << {', '.join(flaws(taken))}" if flaws(taken) else ""
    return f"{said}  {taken.viewer:10} {taken.place:5} {taken.address[:90]}{broken}"


def text(taken: Sequence[Taken]) -> str:
    worst = sorted(taken, key=lambda one: -one.median)[:WORST]
    broken = [one for one in taken if flaws(one)]
    pages = len({one.name for one in taken})
    lines = ["", f"{pages} pages, {len(taken)} measures. The slowest:", *map(line, worst)]
    lines += ["", f"{len(broken)} break a promise:" if broken else "None breaks a promise.", *map(line, broken)]
    for one in broken:
        lines += [f"\n{one.address[:90]} as {one.viewer}"]
        lines += [
            f"  {plan.rows:,} rows, {', '.join(plan.whole)}: {plan.sql[:1500]}"
            for plan in one.plans
            if plan.whole or plan.rows > ROWS
        ]
    return "\n".join(lines)

"""What was measured, in words and numbers: ratios first, since only they carry from one machine to another."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence

ONE, TWO = "Makegood, 1 worker", "Makegood, 2 workers"
DBOS, LANGGRAPH = "DBOS", "LangGraph"


def text(figures: Mapping[str, Sequence[float]], latencies: Sequence[float], settings: Mapping[str, str]) -> str:
    """`figures`: per contestant its rounds, per second. `latencies`: milliseconds."""
    middle = {name: statistics.median(rounds) for name, rounds in figures.items()}
    lines = ["", "Ratios (medians of rounds that took turns on one server)", *ratios(middle), ""]
    lines += ["Absolute figures, per second", *(_figure(name, rounds) for name, rounds in figures.items()), ""]
    if latencies:
        lines += ["Accepted -> tool called, idle system, 1 worker", _latency(latencies), ""]
    lines.append("PostgreSQL " + ", ".join(f"{name} {value}" for name, value in settings.items()))
    return "\n".join(lines)


def ratios(middle: Mapping[str, float]) -> list[str]:
    """Against the best that each peer did with one process, and with two, however many threads."""
    lines = []
    for peer in (DBOS, LANGGRAPH):
        for ours, processes in ((ONE, 1), (TWO, 1), (TWO, 2)):
            theirs = {n: v for n, v in middle.items() if n.startswith(peer) and _processes(n) == processes}
            if ours in middle and theirs:
                best = max(theirs, key=lambda name: theirs[name])
                lines.append(f"  {middle[ours] / theirs[best]:6.2f} x  {ours}  :  {best}")
    for inserts in [name for name in middle if "inserts" in name]:
        lines += [f"  {middle[o] / middle[inserts]:6.2f} x  {o}  :  {inserts}" for o in (ONE, TWO) if o in middle]
    if ONE in middle and TWO in middle:
        lines.append(f"  {middle[TWO] / middle[ONE]:6.2f} x  {TWO}  :  {ONE}")
    return lines


def _processes(name: str) -> int:
    return 2 if "2 processes" in name else 1


def _figure(name: str, rounds: Sequence[float]) -> str:
    spread = f"   ({min(rounds):.0f} to {max(rounds):.0f} in {len(rounds)} rounds)" if len(rounds) > 1 else ""
    return f"  {statistics.median(rounds):8.0f}   {name}{spread}"


def _latency(milliseconds: Iterable[float]) -> str:
    ordered = sorted(milliseconds)
    p95 = ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
    return f"  median {statistics.median(ordered):.1f} ms, p95 {p95:.1f} ms, of {len(ordered)} runs"

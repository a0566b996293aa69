"""What the soak found, in words and numbers."""

from __future__ import annotations

import argparse
import time

from benchmarks.soak.course import Course
from benchmarks.soak.judge import Verdict, bound

TOLD = 10  # troubles; the rest are counted
FLAT = 1.15  # times the memory of its first third: more is a leak


def text(verdict: Verdict, course: Course, options: argparse.Namespace) -> str:
    runs = sum(verdict.runs.values())
    grown = f"{course.memory[-1] // 1024} MB at the end, {course.growth:.2f} times that of its first third"
    took = time.monotonic() - course.began
    lines = [
        "",
        f"seed {options.seed}, {options.faults:.0%} of calls meet a fault",
        f"{verdict.effects} effects of {runs} runs, {verdict.sends} sends, {course.kills} workers killed, {took:.0f} s",
        "ends: " + ", ".join(f"{number} {state}" for state, number in verdict.runs.most_common()),
        "",
        f"clean success              {verdict.clean} of {runs} runs ({100 * verdict.clean / max(runs, 1):.1f} %)",
        f"duplicates                 {bound(verdict.duplicates, verdict.effects)}",
        f"leaks of irreversible acts {bound(verdict.leaks, verdict.final)}",
        f"undeclared residue         {bound(verdict.undeclared, verdict.effects)}",
        f"unknown without owner      {bound(verdict.unowned, verdict.effects)}",
        f"ledger and oracle disagree {bound(verdict.disagree, verdict.effects)}",
        f"flaws of the journal       {verdict.flaws}",
        f"memory of a worker         {grown}{'' if course.growth < FLAT else ': it grows'}",
        "" if course.ended else "It was given up: nothing moved any more.",
    ]
    more = len(verdict.troubles) - TOLD
    lines += verdict.troubles[:TOLD] + ([f"and {more} more"] if more > 0 else [])
    return "\n".join(lines)

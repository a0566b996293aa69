"""The one error of set-up; manage.py, `up` and `doctor` print it as it is, without a traceback."""

from __future__ import annotations


class SetupError(Exception):
    """Something about this machine or its settings stands in the way.

    setting: the name of what to change (an environment variable or an option).
    value: what it is now. problem: one sentence. way_out: what to do, as one sentence.
    """

    def __init__(self, problem: str, *, setting: str = "", value: str = "", way_out: str = "") -> None:
        super().__init__(problem)
        self.problem, self.setting, self.value, self.way_out = problem, setting, value, way_out

    def __str__(self) -> str:
        lines = [self.problem]
        if self.setting:
            lines.append(f"  setting: {self.setting} = {self.value or '(not set)'}")
        if self.way_out:
            lines.append(f"  way out: {self.way_out}")
        return "\n".join(lines)

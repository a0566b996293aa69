"""What hypothesis draws: small graphs of steps, what each send and look meets, and what people do in between."""

from __future__ import annotations

import dataclasses
from typing import Any

from hypothesis import strategies as st

SENDS = [
    "well", "lost_after", "lost_before", "temporary", "refused", "not_sent", "crash", "lies", "pending",
]  # fmt: skip
LOOKS = ["well", "unreachable", "inconclusive", "differs"]
POLLS = ["well", "still", "refused"]
ACTS = ["look_again", "write_off", "compensate_run", "write_off_run"]


@dataclasses.dataclass(frozen=True)
class Step:
    """One step, the tool that it calls, and what that meets."""

    by: str
    verify: bool
    undo: bool
    effect_class: str
    scope: str
    after: tuple[int, ...]
    sends: tuple[str, ...]
    looks: tuple[str, ...]
    undoings: tuple[str, ...]
    undone: tuple[str, ...]
    polls: tuple[str, ...]
    sleep: str  # "" or until what its first call sleeps past its lease: "lost" or "decided"
    fallback: tuple[str, ...] | None  # what the other tool meets that is tried when the undoing is refused for good

    def options(self, story: int) -> dict[str, Any]:
        """For `simulated.spec`; scopes are the story's own, since a stuck effect keeps its scope."""
        scopes = [f"thing:{story}:{self.scope}"] if self.scope else []
        undo = self.undo and self.effect_class != "irreversible"
        return {"by": self.by, "verify": self.verify, "undo": undo, "scopes": scopes, "effect_class": self.effect_class}


@dataclasses.dataclass(frozen=True)
class Story:
    steps: tuple[Step, ...]
    on_failure: str
    after_irreversible: str
    twins: int  # runs of the workflow at once
    drains: int
    cancel_at: int | None  # the turn after which the first of them is cancelled
    acts: tuple[str, ...]  # what people do, one each time that all is quiet


def words(of: list[str], most: int = 3) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(of), max_size=most).map(tuple)


@st.composite
def steps(draw: st.DrawFn) -> tuple[Step, ...]:
    made = []
    for n in range(draw(st.integers(1, 4))):
        by = draw(st.sampled_from(["native_key", "none", "natural_key"]))
        step = Step(
            by=by,
            verify=draw(st.sampled_from([True, True, True, False])),
            undo=draw(st.sampled_from([True, True, True, False])),
            effect_class=draw(st.sampled_from(["reversible", "reversible", "irreversible", "bufferable"])),
            scope=draw(st.sampled_from(["", "one", "two"])),
            after=tuple(sorted(draw(st.sets(st.integers(0, n - 1), max_size=2)))) if n else (),
            sends=draw(words(SENDS)),
            looks=draw(words(LOOKS)),
            undoings=draw(words(SENDS)),
            undone=draw(words(LOOKS)),
            polls=draw(words(POLLS, 2)),
            # Who knows no key and searches by nature is never late here: its late booking would be a second one.
            sleep=draw(st.sampled_from(["", "", "", "lost", "decided"])) if by != "natural_key" else "",
            fallback=draw(st.one_of(st.none(), words(SENDS, 2))),
        )
        made.append(step)
    return tuple(made)


stories = st.builds(
    Story,
    steps=steps(),
    on_failure=st.sampled_from(["compensate", "compensate", "hold", "forward"]),
    after_irreversible=st.sampled_from(["compensate", "hold"]),
    twins=st.integers(1, 2),
    drains=st.sampled_from([1, 1, 3]),
    cancel_at=st.one_of(st.none(), st.integers(0, 12)),
    acts=words(ACTS, 5),
)

"""Draws a run as its plan: a box per step, in layers from left to right, with what undoes it below. Geometry only.

Steps stand in the order in which they may begin, so that the tab key follows the run. The table says the same in words.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Container, Iterable, Sequence

from repairs.words import marks
from repairs.words.marked import _, listed
from workflows.models import Effect, Step
from workflows.states import World
from workflows.visible import parts

WIDE, HIGH, UNDO = 190, 58, 26  # of a step's box and of an undoing's
ACROSS, DOWN, EDGE = 56, 22, 12  # between layers, between boxes, around all
MOST = 60  # steps drawn; the table has all
LETTERS = 21  # that fit a box

UNDOING = _("undo")


@dataclasses.dataclass(frozen=True, slots=True)
class Leaf:
    """An undoing below its step's box."""

    effect: Effect
    y: int
    label: str
    mark: marks.Mark
    doubt: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Box:
    step: Step
    effect: Effect | None
    x: int
    y: int
    label: str
    tool: str
    mark: marks.Mark
    irreversible: bool
    doubt: bool
    leaves: tuple[Leaf, ...]

    @property
    def hint(self) -> str:
        said = [_("step {step}", step=self.label), self.mark.word]
        said += [_("can't be undone")] if self.irreversible else []
        said += [_("nobody knows what is outside")] if self.doubt else []
        said += [_("{undo} {state}", undo=leaf.label, state=leaf.mark.word) for leaf in self.leaves]
        return listed(said)


@dataclasses.dataclass(frozen=True, slots=True)
class Graph:
    boxes: list[Box]
    edges: list[str]
    width: int
    height: int
    left_out: int
    wide: int = WIDE
    high: int = HIGH
    undo: int = UNDO


def draw(steps: Sequence[Step], effects: Iterable[Effect], irreversible: Container[str] = ()) -> Graph | None:
    """`irreversible`: the names of steps that can't be undone. None where there is no step yet."""
    drawn = list(steps)[:MOST]
    if not drawn:
        return None
    layers = layered(drawn)
    own: dict[object, list[Effect]] = {}
    for effect in effects:
        own.setdefault(effect.step_id, []).append(effect)
    boxes: dict[str, Box] = {}
    bottom = 0
    for column, layer in enumerate(layers):
        y = EDGE
        for step in layer:
            place = (EDGE + column * (WIDE + ACROSS), y)
            box = _box(step, own.get(step.id, []), place, irreversible=step.name in irreversible)
            boxes[step.name] = box
            y += HIGH + len(box.leaves) * (UNDO + 4) + DOWN
        bottom = max(bottom, y)
    edges = [_edge(boxes[name], boxes[step.name]) for step in drawn for name in step.after if name in boxes]
    width = 2 * EDGE + len(layers) * (WIDE + ACROSS) - ACROSS
    return Graph(list(boxes.values()), edges, width, bottom - DOWN + EDGE, len(steps) - len(drawn))


def layered(steps: Sequence[Step]) -> list[list[Step]]:
    """A step's layer is one after the last of those that it follows; within one, the order of the run."""
    depth: dict[str, int] = {}
    for step in steps:  # `after` names earlier steps only
        depth[step.name] = 1 + max((depth[name] for name in step.after if name in depth), default=-1)
    ordered = sorted(steps, key=lambda step: (depth[step.name], step.ordinal))
    return [list(layer) for _, layer in itertools.groupby(ordered, key=lambda step: depth[step.name])]


def _box(step: Step, effects: Sequence[Effect], place: tuple[int, int], *, irreversible: bool) -> Box:
    x, y = place
    forward = next((effect for effect in effects if not effect.compensates_id), None)
    undoings = [effect for effect in effects if effect.compensates_id]
    leaves = [
        Leaf(
            effect,
            y + HIGH + 4 + number * (UNDO + 4),
            UNDOING if len(undoings) == 1 else _("undo {number}", number=number + 1),
            marks.mark("effect", effect.state),
            _doubt(effect),
        )
        for number, effect in enumerate(undoings)
    ]
    return Box(
        step=step,
        effect=forward,
        x=x,
        y=y,
        label=short(step.name),
        tool=short(step.tool.name, LETTERS + 6),
        mark=marks.mark("effect", forward.state) if forward else marks.mark("step", step.state),
        irreversible=irreversible,
        doubt=forward is not None and _doubt(forward),
        leaves=tuple(leaves),
    )


def _doubt(effect: Effect) -> bool:
    return bool(effect.world == World.UNKNOWN and effect.state not in ("blocked", "ready", "undone"))


def _edge(source: Box, target: Box) -> str:
    """The path of a line from a box's right to another's left."""
    x1, y1, x2, y2 = source.x + WIDE, source.y + HIGH // 2, target.x, target.y + HIGH // 2
    bend = (x2 - x1) // 2
    return f"M{x1} {y1} C{x1 + bend} {y1} {x2 - bend} {y2} {x2 - 7} {y2}"


def short(text: str, letters: int = LETTERS) -> str:
    """What fits, with codes for what can't be seen."""
    said = "".join(piece for _, piece in parts(text[: 4 * letters]))
    return said if len(said) <= letters else said[: letters - 1] + "…"

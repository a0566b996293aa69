"""The drawing of a run's plan: where its boxes stand, and what they say."""

from __future__ import annotations

from repairs import graph
from workflows.models import Effect, Step, Tool


def step(name: str, ordinal: int, *after: str) -> Step:
    return Step(name=name, ordinal=ordinal, after=list(after), tool=Tool(name=f"t.{name}"))


def effect(of: Step, state: str, world: str, kind: str = "forward", undoes: Effect | None = None) -> Effect:
    return Effect(step=of, state=state, world=world, kind=kind, compensates=undoes)


def test_a_step_is_drawn_left_of_one_that_it_follows_or_a_branch_hides_another() -> None:
    steps = [step("a", 1), step("b", 2, "a"), step("c", 3, "a"), step("d", 4, "b", "c"), step("e", 5)]
    assert [[one.name for one in layer] for layer in graph.layered(steps)] == [["a", "e"], ["b", "c"], ["d"]]
    drawn = graph.draw(steps, [])
    assert drawn is not None
    at = {box.step.name: (box.x, box.y) for box in drawn.boxes}
    assert at["a"][0] < at["b"][0] == at["c"][0] < at["d"][0]
    assert len(set(at.values())) == 5
    assert len(drawn.edges) == 4
    assert [box.label for box in drawn.boxes] == ["a", "e", "b", "c", "d"], "the tab key follows the run"


def test_an_undoing_or_doubt_or_what_cannot_be_undone_is_not_said_in_words() -> None:
    first, second = step("book", 1), step("pay", 2, "book")
    booked = effect(first, "verified", "present")
    undoing = effect(first, "unknown", "unknown", "compensation", booked)
    drawn = graph.draw([first, second], [booked, undoing, effect(second, "unknown", "unknown")], {"pay"})
    assert drawn is not None
    assert drawn.boxes[0].hint == "step book, verified, undo unknown"
    assert drawn.boxes[1].hint == "step pay, unknown, can't be undone, nobody knows what is outside"
    assert drawn.boxes[0].leaves[0].doubt


def test_more_steps_than_can_be_read_are_drawn_or_left_out_in_silence() -> None:
    drawn = graph.draw([step(f"s{n}", n, *([f"s{n - 1}"] if n else [])) for n in range(graph.MOST + 7)], [])
    assert drawn is not None
    assert (len(drawn.boxes), drawn.left_out) == (graph.MOST, 7)


def test_a_name_that_hides_what_it_says_is_drawn_as_it_came() -> None:
    assert graph.short("pay\u202e001") == "pay[U+202E]001"
    assert len(graph.short("x" * 99)) == graph.LETTERS

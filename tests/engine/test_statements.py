"""Verbs work on sets: what costs a number of statements for one effect costs the same for 64."""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.engine.simulated import World
from workflows.drain import drain_once
from workflows.engine import call, look, record, release
from workflows.engine.advance import advance
from workflows.engine.dispatch import dispatch
from workflows.engine.recover import recover
from workflows.models import Effect, ScopeHold

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
MANY = 64


class Counted:
    """The statements of each verb, by its name."""

    def __init__(self) -> None:
        self.texts: dict[str, list[str]] = {}

    def __call__(self, name: str, verb: Callable[[], Any]) -> Any:
        with CaptureQueriesContext(connection) as queries:
            result = verb()
        self.texts.setdefault(name, []).extend(query["sql"] for query in queries.captured_queries)
        return result

    @property
    def numbers(self) -> dict[str, int]:
        return {name: len(texts) for name, texts in self.texts.items()}


def test_claiming_calling_recording_and_looking_take_the_same_statements_for_1_and_64_effects(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a", scopes=["thing:${ subject.id }"])
    tool("t.b", scopes=["thing:${ subject.id }"])
    flow = workflow("t.a", "t.b")
    _through(begin, flow, 1)  # what is met for the first time (versions of tools) is read once and kept
    one, many = _through(begin, flow, 1), _through(begin, flow, MANY)
    assert set(many) >= {"advance", "dispatch", "begin", "record", "looks", "saw", "last advance"}
    assert many == one


def _through(begin: Make, flow: Any, number: int) -> dict[str, int]:
    """So many runs, step by step through their first effect and into their second."""
    for _ in range(number):
        begin(flow)
    count = Counted()
    with ThreadPoolExecutor(8) as pool:
        assert len(count("advance", advance)) == number
        effects = count("dispatch", lambda: dispatch(MANY))
        assert len(effects) == number
        calls = count("begin", lambda: call.begin(effects, pool, effects[0].sending.started_at))
        answered = [(effect, future.result()) for effect, future in calls]
        mine = count("record", lambda: record.record(answered, looks=MANY))
        assert len(mine) == number
        looks, begun = count("looks", lambda: look.begin(mine, pool))
        asked = [(effect, future.result(), begun) for effect, future in looks]
        assert count("saw", lambda: look.record(asked)) == []
        assert len(count("last advance", advance)) == number
    drain_once()  # the second effects, out of the next round's way
    return count.numbers


def test_looks_that_nobody_began_are_claimed_by_the_same_statements_for_1_and_64(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    flow = workflow("t.a")
    numbers = []
    for number in (1, 1, MANY):
        count = Counted()
        effects = _dispatched(begin, flow, number)
        with ThreadPoolExecutor(8) as pool:
            calls = call.begin(effects, pool, effects[0].sending.started_at)
            record.record([(effect, future.result()) for effect, future in calls])
            claimed = count("claim", lambda: look.claim(MANY))
            assert len(claimed) == number
            looks, begun = look.begin(claimed, pool)
            asked = [(effect, future.result(), begun) for effect, future in looks]
            count("anew", functools.partial(look.anew, asked))
        advance()
        numbers.append(count.numbers)
    assert numbers[1] == numbers[2]


def test_giving_up_lost_workers_takes_the_same_statements_for_1_and_64(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a")
    flow = workflow("t.a")
    numbers = []
    for number in (1, 1, MANY):
        effects = _dispatched(begin, flow, number)
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE workflows_effect SET lease_until = now() - interval '1 s' WHERE state = 'dispatched'"
            )
        count = Counted()
        assert len(count("recover", recover)) == len(effects) == number
        numbers.append(count.numbers)
    assert numbers[1] == numbers[2]


def test_letting_waiters_go_takes_the_same_statements_for_1_and_64(
    world: World, tool: Make, workflow: Make, begin: Make
) -> None:
    tool("t.a", scopes=["thing:${ subject.id }"])
    flow = workflow("t.a")
    numbers = []
    for number in (1, 1, MANY):
        holder = _dispatched(begin, flow, 1)[0]
        runs = [begin(flow) for _ in range(number)]
        advance()
        ready = Effect.objects.filter(run__in=runs)
        for effect in ready:
            ScopeHold.objects.create(scope=effect.scopes[0], effect=holder, since=holder.created_at)
        assert dispatch(MANY) == []
        ScopeHold.objects.filter(effect=holder).delete()
        count = Counted()
        assert len(count("release", lambda: release.release(MANY))) == number
        assert len(dispatch(MANY)) == number
        numbers.append(count.numbers)
    assert numbers[1] == numbers[2]


def _dispatched(begin: Make, flow: Any, number: int) -> list[Effect]:
    for _ in range(number):
        begin(flow)
    advance()
    effects = dispatch(MANY)
    assert len(effects) == number
    return effects

"""Small pieces that the models share: ids in order of time, and moves that leave their name behind for the ledger."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable
from typing import Any, TypeVar, cast

import uuid_utils
import uuid_utils.compat
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django_fsm import FSMField, FSMFieldDescriptor, TransitionNotAllowed, transition

from workflows.states import MOVES

F = TypeVar("F", bound=Callable[..., None])


def new_id() -> uuid.UUID:
    """UUIDv7: sorts by the moment it was made, and the partitions of history are ranges of it."""
    return uuid_utils.compat.uuid7()


def new_id_text() -> str:
    """The same where only its text is needed: made without the object, in a quarter of the time."""
    return str(uuid_utils.uuid7())


def json_field(default: Callable[[], Any] | None = None, **options: Any) -> models.JSONField[Any, Any]:
    """A JSON column; without a default it may be null, which tells 'not there' from 'empty'."""
    if default is None:
        return models.JSONField(null=True, blank=True, encoder=DjangoJSONEncoder, **options)
    return models.JSONField(default=default, blank=True, encoder=DjangoJSONEncoder, **options)


def choices(words: Any) -> list[tuple[str, str]]:
    return [(word.value, word.value) for word in words]


class StateDescriptor(FSMFieldDescriptor):
    """Reads a state as what it is, an entry of the instance: policies ask for it many times for each row."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is not None and self.field.name in instance.__dict__:
            return instance.__dict__[self.field.name]
        return super().__get__(instance, owner)


class StateField(FSMField):
    """A state that only moves may change. In migrations it is the plain field of django-fsm."""

    descriptor_class = StateDescriptor

    def deconstruct(self) -> Any:
        name, _, args, options = super().deconstruct()
        return name, "django_fsm.FSMField", args, options


def effect_move(name: str) -> Callable[[F], F]:
    """Makes a method the move `name` of the one table; its name is kept in `event` until the ledger wrote it."""
    move = MOVES[name]
    return named("state", name, [s.value for s in move.sources], move.target.value)


def named(field: str, name: str, sources: list[str], target: str) -> Callable[[F], F]:
    """A state machine's transition that leaves `name` in `event` on the instance."""

    allowed = frozenset(sources)

    def decorate(method: F) -> F:
        @functools.wraps(method)
        def body(self: Any, *args: Any, **kwargs: Any) -> None:
            facts = self.__dict__
            if self.event:
                raise RuntimeError(f"{self!r} has an unwritten move {self.event!r}; the ledger writes one at a time")
            if facts[field] not in allowed:
                raise TransitionNotAllowed(f"{name} does not lead out of {facts[field]!r}", object=self, method=method)
            method(self, *args, **kwargs)
            facts[field] = target
            self.event = name

        # Known to django-fsm, for whoever lists the moves; made without its signals, which nobody hears.
        transition(field=field, source=sources, target=target)(body)
        return cast(F, body)

    return decorate

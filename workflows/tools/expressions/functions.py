"""The functions an expression may call, and our own bounded string extensions (the library's can build gigabytes)."""

from __future__ import annotations

import functools
import unicodedata
from typing import TYPE_CHECKING, Any

from workflows import money
from workflows.tools import moments

if TYPE_CHECKING:
    from collections.abc import Callable

# Longer than any text that an argument or an answer may hold here; reached only by multiplying.
LONGEST_TEXT = 262_144
MOST_PARTS = 1_000

_TIMES = frozenset(
    [
        "getFullYear",
        "getMonth",
        "getDate",
        "getDayOfMonth",
        "getDayOfWeek",
        "getDayOfYear",
        "getHours",
        "getMinutes",
        "getSeconds",
    ]
)
_STRINGS = frozenset(["contains", "startsWith", "endsWith", "matches", "size"])
FREE_NATIVE = frozenset(
    ["size", "has", "int", "uint", "double", "string", "bytes", "type", "dyn", "timestamp", "duration"]
)


def extensions(trouble: list[str]) -> dict[str, Callable[..., Any]]:
    """The string extensions as callables that never raise (the library would print that to stderr).

    What goes wrong is appended to `trouble`; whoever evaluates must look there before using the value.
    """
    return {
        name: functools.partial(_guarded, function, name, trouble)
        for name, function in {**_EXTENSIONS, **_FREE_EXTENSIONS}.items()
    }


def _guarded(function: Callable[..., Any], name: str, trouble: list[str], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception as error:  # whatever a foreign value does in here is its own fault
        trouble.append(f"{name}(): {error}")
        return None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"needs a string, got {type(value).__name__}")
    return value


def _place(value: Any, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise ValueError(f"{value!r} is outside 0 to {most}")
    return value


def _bounded(length: int) -> None:
    if length > LONGEST_TEXT:
        raise ValueError(f"would make {length} characters; at most {LONGEST_TEXT} are taken")


def _char_at(text: Any, at: Any) -> str:
    place = _place(at, len(_text(text)))
    return _text(text)[place : place + 1]


def _index_of(text: Any, part: Any, start: Any = 0) -> int:
    return _text(text).find(_text(part), _place(start, len(text)))


def _last_index_of(text: Any, part: Any) -> int:
    return _text(text).rfind(_text(part))


def _substring(text: Any, start: Any, end: Any = None) -> str:
    last = len(_text(text)) if end is None else _place(end, len(text))
    return _text(text)[_place(start, last) : last]


def _replace(text: Any, old: Any, new: Any, most: Any = -1) -> str:
    times = _text(text).count(_text(old))
    times = times if most == -1 else min(times, _place(most, LONGEST_TEXT))
    _bounded(len(text) + times * max(0, len(_text(new)) - len(old)))
    return _text(text).replace(old, new, times)


def _split(text: Any, separator: Any, most: Any = -1) -> list[str]:
    splits = -1 if most == -1 else _place(most, MOST_PARTS) - 1
    pieces = _text(text).split(separator, splits) if _text(separator) else list(_text(text))
    if len(pieces) > MOST_PARTS:
        raise ValueError(f"would make {len(pieces)} parts; at most {MOST_PARTS} are taken")
    return pieces


def _join(parts: Any, separator: Any = "") -> str:
    if not isinstance(parts, list):
        raise TypeError("needs a list of strings")
    _bounded(sum(len(_text(part)) for part in parts) + len(parts) * len(_text(separator)))
    return _text(separator).join(parts)


def _lower_ascii(text: Any) -> str:
    return _text(text).translate(_LOWER)


def _upper_ascii(text: Any) -> str:
    return _text(text).translate(_UPPER)


def _trim(text: Any) -> str:
    return _text(text).strip()


def _reverse(text: Any) -> str:
    return _text(text)[::-1]


def _nfc(text: Any) -> str:
    composed = unicodedata.normalize("NFC", _text(text))
    _bounded(len(composed))
    return composed


def _fold(text: Any) -> str:
    """Case folded for comparing, composed again afterwards; never for sending."""
    folded = unicodedata.normalize("NFC", _nfc(text).casefold())
    _bounded(len(folded))
    return folded


# ASCII letters only, as the names say: a Turkish dotless i must not change with a lower().
_CAPITALS, _SMALLS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
_LOWER, _UPPER = str.maketrans(_CAPITALS, _SMALLS), str.maketrans(_SMALLS, _CAPITALS)

_EXTENSIONS: dict[str, Callable[..., Any]] = {
    "charAt": _char_at,
    "indexOf": _index_of,
    "lastIndexOf": _last_index_of,
    "substring": _substring,
    "replace": _replace,
    "split": _split,
    "join": _join,
    "lowerAscii": _lower_ascii,
    "upperAscii": _upper_ascii,
    "trim": _trim,
    "reverse": _reverse,
    "nfc": _nfc,
    "fold": _fold,
}
_FREE_EXTENSIONS: dict[str, Callable[..., Any]] = {
    "instant": moments.instant,
    "wall": moments.wall,
    "minor": money.minor,
    "major": money.major,
    "whole": money.whole,
}
_OURS = {**_EXTENSIONS, **_FREE_EXTENSIONS}
METHODS = _STRINGS | _TIMES | frozenset(_EXTENSIONS)
FREE = FREE_NATIVE | frozenset(_FREE_EXTENSIONS) | frozenset({"secret"})

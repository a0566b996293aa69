"""Texts to customers to begin from: those of the program, and beside them an operator's own, a file each in a folder.

`MAKEGOOD_MESSAGES` names the folder. It is read once, when a process starts; what can't be read keeps it from starting,
so that nobody finds a broken text with a customer on the phone.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from config.house.errors import SetupError
from repairs.words.remedy_messages import BLANKS, MESSAGES, Message
from workflows.errors import Invalid, shown
from workflows.tools.reading import read
from workflows.visible import is_hidden

SETTING = "MAKEGOOD_MESSAGES"
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
BRACES = re.compile(r"\{([^{}]*)\}")  # whatever was meant as a blank: what isn't one would reach the customer as it is
MOST = 100  # files; more nobody finds his way in
LONGEST: Mapping[str, int] = {"title": 100, "subject": 200, "text": 10_000}  # characters


@functools.cache
def messages() -> dict[str, Message]:
    """By name; an operator's file takes the place of the program's text of that name. Raises `SetupError`."""
    return MESSAGES | brought(settings.MESSAGES)


def brought(folder: str) -> dict[str, Message]:
    """Those of a folder, by the names of their files. Raises `SetupError`, which names file and field."""
    if not folder:
        return {}
    if not Path(folder).is_dir():
        raise SetupError(f"{SETTING} must name a folder.", setting=SETTING, value=folder, way_out=WAY_OUT)
    files = sorted(path for path in Path(folder).iterdir() if path.suffix in (".yaml", ".yml", ".json"))
    if len(files) > MOST:
        raise SetupError(
            f"{folder} holds {len(files)} files, and at most {MOST} are read.",
            setting=SETTING, value=folder, way_out="Take out those that nobody needs.",
        )  # fmt: skip
    found: dict[str, Message] = {}
    for path in files:
        if path.stem in found:
            raise _refused(path, "", path.name, "has the name of another file; only one of them could be shown")
        found[path.stem] = _message(path)
    return found


WAY_OUT = "Put files in it, each with title, subject and text as docs/messages.md shows; or unset it."


def _message(path: Path) -> Message:
    if not NAME.fullmatch(path.stem):
        raise _refused(path, "", path.name, "must be named by at most 40 small letters, digits and dashes")
    try:
        told = read(path.name, path.read_bytes()).value
    except Invalid as trouble:
        raise _refused(path, "", path.name, " ".join(map(str, trouble.flaws)) or trouble.detail) from trouble
    except OSError as trouble:
        raise _refused(path, "", path.name, f"can't be read: {trouble.strerror}") from trouble
    if not isinstance(told, dict) or told.keys() != LONGEST.keys():
        names = ", ".join(told) if isinstance(told, dict) else type(told).__name__
        raise _refused(path, "", names, f"must hold exactly {', '.join(LONGEST)}")
    return Message(**{name: _text(path, name, value) for name, value in told.items()})


def _text(path: Path, name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST[name]:
        raise _refused(path, name, value, f"must be a text of 1 to {LONGEST[name]} characters")
    lines = "\n" if name == "text" else ""
    if bad := next((c for c in value if c not in lines and (is_hidden(c) or not (c.isprintable() or c == " "))), ""):
        raise _refused(path, name, f"U+{ord(bad):04X}", "is a character that can't be seen; take it out")
    strange = next((blank for blank in BRACES.findall(value) if blank not in BLANKS), None)
    if strange is not None:
        said = ", ".join(f"{{{blank}}}" for blank in BLANKS)
        raise _refused(path, name, f"{{{strange}}}", f"is no blank that is filled in; there are {said}")
    return value


def _refused(path: Path, name: str, value: object, message: str) -> SetupError:
    where = f"{path}{name and f', {name}'}"
    return SetupError(
        f"{where}: {shown(value, 80)} {message}.", setting=SETTING, value=str(path.parent), way_out=WAY_OUT
    )

"""Evidence as a person gives it with an act: a text, a file, both or neither. Checked whole before anything is done."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from typing import Any

from django.core.files.uploadedfile import UploadedFile

from repairs.models import Act, Evidence
from repairs.uploads import MOST_OF_A_FILE
from repairs.words.marked import _
from workflows.errors import Flaw, Invalid
from workflows.models.fields import new_id
from workflows.tools.keeping import keepable

MOST_OF_A_TEXT = 20_000  # characters: a mail with its head, a page of a log
NAME = 200
TEXT = "text"  # what a typed one is called


@dataclasses.dataclass(frozen=True, slots=True)
class Given:
    name: str
    content: bytes

    @property
    def facts(self) -> dict[str, Any]:
        """What the act keeps of it, whatever becomes of the bytes."""
        digest = hashlib.sha256(self.content).hexdigest()
        return {"id": str(new_id()), "name": self.name, "size": len(self.content), "sha256": digest}


def given(text: str, file: UploadedFile[Any] | None) -> list[Given]:
    """Raises `Invalid`."""
    found = []
    if text.strip():
        if len(text) > MOST_OF_A_TEXT:
            flaw = Flaw(
                "evidence",
                text[:40],
                _(
                    "has {count:,} characters; at most {most:,}, or a file",
                    count=len(text),
                    most=MOST_OF_A_TEXT,
                ),
            )
            raise Invalid(_("The text is too long."), [flaw])
        found.append(Given(TEXT, text.replace("\r\n", "\n").encode("utf-8", "backslashreplace")))
    if file is not None:
        name, size = keepable(str(file.name or "file"))[:NAME], file.size or 0
        if size > MOST_OF_A_FILE:
            flaw = Flaw(
                "file",
                name[:80],
                _("has {size:,} bytes; at most {most:,}", size=size, most=MOST_OF_A_FILE),
            )
            raise Invalid(_("The file is too large; nothing was done."), [flaw])
        if not size:
            raise Invalid(_("The file is empty; nothing was done."), [Flaw("file", name[:80], _("has 0 bytes"))])
        found.append(Given(name, file.read()))
    return found


def keep(act: Act, given: Sequence[Given], facts: Sequence[dict[str, Any]]) -> None:
    """Inside the act's transaction. `facts`: what the act keeps of each."""
    Evidence.objects.bulk_create(
        Evidence(id=fact["id"], act=act, name=one.name, size=fact["size"], sha256=fact["sha256"], content=one.content)
        for one, fact in zip(given, facts, strict=True)
    )

"""Reads a manifest file as JSON values: YAML 1.2's core or JSON, and refuses what could mean two things."""

from __future__ import annotations

from workflows.tools.reading import json_text, yaml_text
from workflows.tools.reading.documents import Document, PlacedFlaw, dotted, refused

__all__ = ["Document", "PlacedFlaw", "dotted", "read"]

# The parser is slow on purpose-made files; a manifest of a hundred tools has about 100 kB.
LARGEST = 512 * 1024


def read(file: str, text: str | bytes) -> Document:
    """The document in `text`; JSON where `file` ends in .json, else YAML. Raises `Invalid` with one placed flaw."""
    document = Document(file)
    if len(text) > LARGEST:
        raise refused(document, 1, 1, len(text), f"is larger than {LARGEST} bytes")
    text = (_decoded(document, text) if isinstance(text, bytes) else text).removeprefix("\ufeff")
    if file.endswith(".json"):
        json_text.read(document, text)
    else:
        yaml_text.read(document, text)
    return document


def _decoded(document: Document, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line, wrong = data.count(b"\n", 0, error.start) + 1, data[error.start : error.start + 1].hex()
        raise refused(document, line, 1, wrong, "is no UTF-8") from None

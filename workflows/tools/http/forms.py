"""Bodies of multipart/form-data: the same bytes for the same content, so that a repeat is the same to everybody."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import unicodedata
from typing import TYPE_CHECKING, Any

from workflows.tools.expressions import ExpressionError, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

TYPE = re.compile(r"[A-Za-z0-9.+-]+/[A-Za-z0-9.+-]+")
BOUNDARY_DIGITS = 40  # hex, of a digest over the content: no content holds its own


def form(parts: Sequence[Any], where: str) -> tuple[list[dict[str, Any]], str, bytes]:
    """(what is asked, for the digest; the content type; the bytes). Raises `ExpressionError`."""
    read = [_part(part, f"{where}.{number}") for number, part in enumerate(parts)]
    asked = [logical for logical, _ in read]
    boundary = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:BOUNDARY_DIGITS]
    body = b"".join(_written(logical, content, boundary) for (logical, content) in read)
    return asked, f"multipart/form-data; boundary={boundary}", body + f"--{boundary}--\r\n".encode()


def _part(part: dict[str, Any], where: str) -> tuple[dict[str, Any], bytes]:
    name = _plain(part["name"], f"{where}.name")
    if "value" in part:
        value = text_of(part["value"])
        return {"name": name, "value": value}, value.encode("utf-8", "backslashreplace")
    kind = text_of(part.get("type") or "application/octet-stream")
    if not TYPE.fullmatch(kind):
        raise ExpressionError(f"{where}.type", kind[:80], "is no content type")
    try:
        content = base64.b64decode(text_of(part["base64"]), validate=True)
    except binascii.Error as error:
        raise ExpressionError(f"{where}.base64", "the content", f"is no base64: {error}") from None
    file = _plain(part["file"], f"{where}.file").replace("\\", "/").rsplit("/", 1)[-1]
    return {"name": name, "file": file, "type": kind, "sha256": hashlib.sha256(content).hexdigest()}, content


def _plain(value: Any, where: str) -> str:
    """A name as every system reads it: one form of each character, no line breaks or quotes that would end it."""
    text = unicodedata.normalize("NFC", text_of(value))
    if not text or not text.isprintable() or '"' in text:
        raise ExpressionError(where, text[:80], "must be a name of printable characters without quotes")
    return text


def _written(logical: dict[str, Any], content: bytes, boundary: str) -> bytes:
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="{logical["name"]}"'
    if "file" in logical:
        head += f'; filename="{logical["file"]}"\r\nContent-Type: {logical["type"]}'
    return head.encode() + b"\r\n\r\n" + content + b"\r\n"

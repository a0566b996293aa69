"""Reads the request headers that steer a call: Idempotency-Key, If-None-Match and Prefer."""

from __future__ import annotations

import re

from django.http import HttpRequest

from workflows.errors import Flaw, KeyMissing

LONGEST_WAIT = 60  # seconds; DESIGN 9, and below the idle limit of the usual proxies

# Visible ASCII without the comma: the server joins a repeated header with commas, so one can't be told from two.
KEY = re.compile(r"[!-+\--~]{1,255}")
# A tag in quotes, weak or strong; or one that lost its quotes on the way.
TAG = re.compile(r'(?:W/)?"([^"]*)"|([^\s,"]+)')
# What proxies add to the tag of an answer that they compressed.
COMPRESSED = re.compile(r"(?:-|--|;)(?:gzip|br|deflate|zstd)$")
WAIT = re.compile(r'\s*wait\s*=\s*"?([0-9]{1,9})"?\s*(?:;.*)?', re.IGNORECASE)


def idempotency_key(request: HttpRequest, *, required: bool = True) -> str:
    """The key. Raises KeyMissing that shows what came instead."""
    key: str | None = request.META.get("HTTP_IDEMPOTENCY_KEY")
    if key is None and not required:
        return ""
    if key is None or not KEY.fullmatch(key):
        message = "send it once, as 1 to 255 visible ASCII characters without commas; the same again to repeat a call"
        raise KeyMissing(flaws=[Flaw("Idempotency-Key", key, message)])
    return key


ANY = '"*"'  # no tag: those are kept without their quotes, so one that is named * stands for itself


def known_tags(request: HttpRequest) -> list[str]:
    """The tags of If-None-Match as they were before a proxy touched them, or `ANY`."""
    header = request.META.get("HTTP_IF_NONE_MATCH", "")
    if header.strip() == "*":
        return [ANY]
    return [COMPRESSED.sub("", quoted or bare) for quoted, bare in TAG.findall(header)]


def matches(tag: str, known: list[str]) -> bool:
    """Weak comparison, as RFC 9110 wants it for If-None-Match."""
    return ANY in known or tag.strip('"') in known


def wait(request: HttpRequest) -> int:
    """Seconds to wait by Prefer: wait=N, 0 without it. What can't be read is passed over, as RFC 7240 wants."""
    for preference in request.META.get("HTTP_PREFER", "").split(","):
        if found := WAIT.fullmatch(preference):
            return min(int(found[1]), LONGEST_WAIT)
    return 0

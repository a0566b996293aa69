"""What a calendar is asked beside GET, PUT and DELETE: where a UID stands, and an ETag by a second method. Pure."""

from __future__ import annotations

import dataclasses
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from workflows.tools.wire import Answer

SEARCH = """<?xml version="1.0" encoding="utf-8"?>
<C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">
<D:prop><D:getetag/><C:calendar-data/></D:prop>
<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT"><C:prop-filter name="UID">
<C:text-match collation="i;octet">%s</C:text-match>
</C:prop-filter></C:comp-filter></C:comp-filter></C:filter></C:calendar-query>"""
ETAG = b'<?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:"><D:prop><D:getetag/></D:prop></D:propfind>'
XML = {"Content-Type": "application/xml; charset=utf-8", "Accept": "application/xml"}
MULTISTATUS = 207
DAV, CALDAV = "{DAV:}", "{urn:ietf:params:xml:ns:caldav}"
# RFC 4791, 5.3.2.1: the UID stands at another address of this calendar.
ELSEWHERE = b"no-uid-conflict"
# RFC 3744, 7.1.1: the request was refused because of who asked.
FORBIDDEN, NOT_ALLOWED = 403, b"need-privileges"


def means(answer: Answer) -> bool | None:
    """Calendars say with 403 what is wrong with an event, too; only a lack of privileges speaks of who asked."""
    return NOT_ALLOWED in answer.body if answer.status == FORBIDDEN else None


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """One object of a multistatus: where it is, its ETag ("" unknown), its content (empty: not asked for)."""

    href: str
    etag: str
    data: bytes


def search(uid: str) -> bytes:
    return (SEARCH % escape(uid)).encode()


def objects(body: bytes) -> list[Found]:
    """What a multistatus tells. `ValueError` for what is none."""
    if b"<!DOCTYPE" in body or b"<!ENTITY" in body:
        raise ValueError("a document type isn't read")
    try:
        root = ET.fromstring(body)  # noqa: S314  as above; the body is bounded by the wire
    except ET.ParseError as error:
        raise ValueError(str(error)) from None
    if root.tag != f"{DAV}multistatus":
        raise ValueError(f"{root.tag} is no multistatus")
    return [_found(response) for response in root.iter(f"{DAV}response")]


def _found(response: ET.Element) -> Found:
    def text(name: str) -> str:
        element = response.find(f".//{name}")
        return (element.text or "").strip() if element is not None else ""

    return Found(text(f"{DAV}href"), text(f"{DAV}getetag"), text(f"{CALDAV}calendar-data").encode())

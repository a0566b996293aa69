"""The calendar: Radicale itself, in a process of its own, with its events in the data folder and a mood in front of it.

An event is locked by its organiser where a mood refuses its DELETE; Radicale alone would let anybody remove it.
"""

from __future__ import annotations

import io
import logging
import sys
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import radicale.app
import radicale.config
import radicale.log

from examples.outside.web import Answer, Request

CALENDAR = "/demo/onboarding/"
MAKE = b"""<?xml version="1.0"?>
<C:mkcalendar xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">
<set><prop><displayname>Onboarding</displayname></prop></set></C:mkcalendar>"""
RIGHTS = "[everybody]\nuser: .*\ncollection: .*\npermissions: RrWw\n"


class Calendar:
    def __init__(self, folder: Path) -> None:
        rights = folder / "rights.ini"
        rights.write_text(RIGHTS)
        configuration = radicale.config.load()
        configuration.update(
            {
                "auth": {"type": "none"},
                "rights": {"type": "from_file", "file": str(rights)},
                "storage": {"filesystem_folder": str(folder / "collections")},
            },
            "the demo",
        )
        logging.disable(logging.WARNING)  # it warns of what is meant here: no login, a new folder
        radicale.log.setup()
        self._application = radicale.app.Application(configuration)
        for path, method, body in (("/demo/", "MKCOL", b""), (CALENDAR, "MKCALENDAR", MAKE)):
            self._ask(method, path, body)  # there already the second time: Radicale says so and changes nothing

    def about(self, request: Request) -> str:
        """The event as it stands, unfolded, so that its attendees can be read."""
        if request.method not in ("DELETE", "PUT"):
            return ""
        text = self._ask("GET", request.path).body.decode("utf-8", "replace")
        return text.replace("\r\n ", "").replace("\n ", "") + _unfolded(request.body)

    def handle(self, request: Request, *, stale: bool) -> Answer:
        if stale and request.method == "GET":
            return Answer(status=404, body=b"not there (yet)", headers={"Content-Type": "text/plain"})
        return self._ask(request.method, request.target, request.body, dict(request.headers))

    def _ask(self, method: str, target: str, body: bytes = b"", headers: dict[str, str] | None = None) -> Answer:
        """Radicale's answer, through WSGI."""
        url = urllib.parse.urlsplit(target)
        environ: dict[str, Any] = {
            "REQUEST_METHOD": method,
            "SCRIPT_NAME": "",
            "PATH_INFO": urllib.parse.unquote(url.path, "latin-1"),
            "QUERY_STRING": url.query,
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_LENGTH": str(len(body)),
            "CONTENT_TYPE": (headers or {}).get("content-type", ""),
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(body),
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        }
        environ |= {f"HTTP_{n.upper().replace('-', '_')}": v for n, v in (headers or {}).items()}
        environ.pop("HTTP_ACCEPT_ENCODING", None)  # plain answers: what is on the wire can be read
        started: list[tuple[str, list[tuple[str, str]]]] = []
        start: Callable[..., None] = lambda status, fields: started.append((status, fields))  # noqa: E731
        content = b"".join(self._application(environ, start))
        status, fields = started[0]
        return Answer(status=int(status.split()[0]), body=content, headers=dict(fields))


def _unfolded(body: bytes) -> str:
    return body.decode("utf-8", "replace").replace("\r\n ", "").replace("\n ", "")

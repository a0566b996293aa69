"""One outside service in its own process; supervise.py starts it with its listening sockets already open."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from pathlib import Path

from examples.outside.customers import standing
from examples.outside.moods import Moods
from examples.outside.web import Service, serve

READY = "ready\n"


def run(name: str, folder: Path, listeners: list[socket.socket]) -> None:
    """Serves until stdin, whose other end the supervisor holds, is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the supervisor decides
    moods = Moods(standing(name))
    service = _service(name, folder, listeners, moods)
    server = serve(listeners[0], service, moods)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdout.write(READY)
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)  # held and delayed answers die with us, as they would with a real outage


def _service(name: str, folder: Path, listeners: list[socket.socket], moods: Moods) -> Service:
    """Imports only what this service needs: the others' libraries cost start-up time."""
    if name == "crm":
        from examples.outside.crm import Crm

        return Crm(folder)
    if name == "audience":
        from examples.outside.audience import Audience

        return Audience(folder)
    if name == "calendar":
        from examples.outside.calendar import Calendar

        return Calendar(folder)
    from examples.outside.inbox import Inbox, receive_mail

    inbox = Inbox(folder)
    receive_mail(listeners[1], inbox, moods)
    return inbox

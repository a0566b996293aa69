"""Starts the outside services on loopback, each in its own process, tells where they are, and ends them together."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

from examples.outside.child import READY

# name in the environment, the service that listens there
PLACES = (("CRM_URL", "crm"), ("AUDIENCE_URL", "audience"), ("CALENDAR_URL", "calendar"), ("INBOX_URL", "inbox"))
SMTP_PORT = "MAKEGOOD_SMTP_PORT"
# The services write each change before they answer, so whoever needs longer to end is simply ended.
PATIENCE = 3.0


def supervise(data: Path, *, ports_file: Path, port_base: int | None, pipe: bool) -> int:
    """Runs them until the end.

    1. Open the sockets.
    2. Start the services and wait until each is ready.
    3. Write where they are.
    4. Wait for the end and end them all.

    Ends on SIGTERM, Ctrl-C, with `pipe` at the end of stdin, or (exit code 1) when a service ended by itself.
    """
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: over.set())
    signal.signal(signal.SIGINT, lambda *_: over.set())
    listeners = _listen(data / "ports.json", port_base)
    children = {}
    try:
        for _, service in PLACES:
            own = [listeners[name] for name in _names(service)]
            children[service] = _start(service, data, own)
        for service, child in children.items():
            assert child.stdout is not None
            if child.stdout.readline() != READY:
                print(f"The outside service {service} didn't start; its message is above.", file=sys.stderr)
                return 1
            threading.Thread(target=_watch, args=[child, over], daemon=True).start()
        _write(ports_file, addresses(listeners))
        if pipe:
            threading.Thread(target=_until_closed, args=[over], daemon=True).start()
        over.wait()
        return 1 if any(child.poll() is not None for child in children.values()) else 0
    finally:
        for child in children.values():
            _end(child)
        for listener in listeners.values():
            listener.close()


def addresses(listeners: dict[str, socket.socket]) -> dict[str, str]:
    """What belongs into the environment of whoever calls these services."""
    ports = {name: listener.getsockname()[1] for name, listener in listeners.items()}
    places = {name: f"http://127.0.0.1:{ports[name]}" for name, _ in PLACES}
    mail = {"MAKEGOOD_SMTP_HOST": "127.0.0.1", SMTP_PORT: str(ports[SMTP_PORT])}
    return places | mail | {"MAKEGOOD_ENV": ",".join(places)}


def _names(service: str) -> list[str]:
    own = [name for name, of in PLACES if of == service]
    return [*own, SMTP_PORT] if service == "inbox" else own


def _listen(remembered: Path, port_base: int | None) -> dict[str, socket.socket]:
    """A socket a name. Without a base: the ports of last time where free, so that what runs kept of them holds."""
    names = [name for name, _ in PLACES] + [SMTP_PORT]
    if port_base is not None:
        return {name: _bind(port_base + n) for n, name in enumerate(names)}
    known: dict[str, int] = {}
    with contextlib.suppress(OSError, ValueError):
        known = json.loads(remembered.read_text())
    listeners = {}
    for name in names:
        try:
            listeners[name] = _bind(int(known.get(name, 0)))
        except (OSError, ValueError):
            listeners[name] = _bind(0)
    _write(remembered, {name: listener.getsockname()[1] for name, listener in listeners.items()})
    return listeners


def _bind(port: int) -> socket.socket:
    listener = socket.create_server(("127.0.0.1", port), backlog=128)
    listener.set_inheritable(True)
    return listener


def _start(service: str, data: Path, listeners: list[socket.socket]) -> subprocess.Popen[str]:
    numbers = [listener.fileno() for listener in listeners]
    command = [sys.executable, "-m", "examples.outside", "child", service, "--data", str(data.absolute())]
    return subprocess.Popen(
        [*command, "--fds", *map(str, numbers)],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        pass_fds=numbers,
    )


def _until_closed(over: threading.Event) -> None:
    sys.stdin.read()
    over.set()


def _watch(child: subprocess.Popen[str], over: threading.Event) -> None:
    child.wait()
    over.set()


def _end(child: subprocess.Popen[str]) -> None:
    """Closing its stdin ends it, as it does when we are killed."""
    assert child.stdin is not None
    assert child.stdout is not None
    with contextlib.suppress(OSError):
        child.stdin.close()
    try:
        child.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    child.stdout.close()


def _write(file: Path, value: dict[str, str] | dict[str, int]) -> None:
    """Whole or not at all, and for our own eyes."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f"{file.name}.{os.getpid()}")
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
        json.dump(value, out, indent=1)
    new.replace(file)

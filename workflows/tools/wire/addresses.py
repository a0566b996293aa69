"""From a host's name to the addresses that may be connected to, within the deadline and the operator's permission."""

from __future__ import annotations

import ipaddress
import socket
import threading
from typing import TYPE_CHECKING

from workflows.tools import environment
from workflows.tools.wire.messages import Forbidden, NotLeft

if TYPE_CHECKING:
    from workflows.tools.wire.messages import Deadline

Address = tuple[str, int]


def addresses_of(host: str, port: int, deadline: Deadline) -> list[Address]:
    """What the name stands for now; each is checked here and connected to as it is, so no later answer can differ."""
    found = [(host, port)] if _is_address(host) else _resolved(host, port, deadline)
    if environment.private_hosts_allowed():
        return found
    allowed = [address for address in found if _is_public(address[0])]
    if not allowed:
        raise Forbidden(f"{host} is a loopback or private address, which MAKEGOOD_ALLOW_PRIVATE_HOSTS forbids")
    return allowed


def _resolved(host: str, port: int, deadline: Deadline) -> list[Address]:
    """The system's resolver knows no timeout: it is asked in a thread that is left behind when it takes too long."""
    found: list[Address] = []
    trouble: list[OSError] = []

    def ask() -> None:
        try:
            entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            trouble.append(error if isinstance(error, OSError) else OSError(str(error)))
        else:
            found.extend((str(entry[4][0]), port) for entry in entries)

    asking = threading.Thread(target=ask, name="resolve", daemon=True)
    asking.start()
    asking.join(deadline.left())
    if asking.is_alive():
        raise NotLeft(f"the name {host} wasn't resolved in time")
    if trouble or not found:
        raise NotLeft(f"the name {host} can't be resolved: {trouble[0].strerror if trouble else 'no address'}")
    return list(dict.fromkeys(found))


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_public(text: str) -> bool:
    address = ipaddress.ip_address(text.split("%", 1)[0])
    mapped = getattr(address, "ipv4_mapped", None)
    address = mapped or address
    return address.is_global and not address.is_multicast

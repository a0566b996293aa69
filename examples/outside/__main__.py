"""`python -m examples.outside serve`: the outside world of the demo, on loopback."""

from __future__ import annotations

import argparse
import socket
import sys
from pathlib import Path

from examples.outside import child, supervise


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m examples.outside", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="start the CRM, the audience service, the calendar and the mail server")
    serve.add_argument("--data", type=Path, required=True, help="the folder that holds their storage")
    serve.add_argument("--ports-file", type=Path, help="where to write the addresses (default: DATA/outside.json)")
    serve.add_argument(
        "--port-base", type=int, help="the first of five ports (default: free ones, kept from last time)"
    )
    serve.add_argument("--pipe", action="store_true", help="end when stdin is closed")
    one = commands.add_parser("child")
    one.add_argument("service", choices=[service for _, service in supervise.PLACES])
    one.add_argument("--data", type=Path, required=True)
    one.add_argument("--fds", type=int, nargs="+", required=True)
    arguments = parser.parse_args()
    if arguments.command == "child":
        child.run(arguments.service, arguments.data, [socket.socket(fileno=fd) for fd in arguments.fds])
        return 0
    ports_file = arguments.ports_file or arguments.data / "outside.json"
    return supervise.supervise(
        arguments.data, ports_file=ports_file, port_base=arguments.port_base, pipe=arguments.pipe
    )


if __name__ == "__main__":
    sys.exit(main())

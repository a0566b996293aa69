"""`manage.py up`: everything on one machine, until Ctrl-C."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import connection

from config.house.children import Child
from config.house.supervisor import QUEUE, House
from workflows import queue
from workflows.management.base import PlainCommand
from workflows.management.logins import demo_logins

WEB_GRACE = 8.0  # seconds: gunicorn itself gives open requests five
OUTSIDE_GRACE = 5.0  # seconds: they write each change before they answer
QUEUE_GRACE = 10.0  # seconds for calls under way; what is cut off then is unknown, and looked at by the next start


class Command(PlainCommand):
    help = "Runs everything on one machine: database, web, queue and, with the demo, the outside services."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="the port of the console and the API")
        parser.add_argument("--no-demo", action="store_true", help="no outside services, no demo logins")

    def handle(self, *args: Any, port: int, no_demo: bool, **options: Any) -> None:
        with House(settings.DATA_FOLDER, port, self._say) as house:
            call_command("migrate", interactive=False, verbosity=0)
            queue.ring()  # for the work that waits since last time
            logins = {} if no_demo else demo_logins(settings.DATA_FOLDER)
            connection.close()
            house.keep(_family(port, demo=not no_demo), ready=lambda: self._welcome(house.url, logins))

    def _welcome(self, url: str, logins: dict[str, str]) -> None:
        self._say(f"Makegood is ready: {url}")
        for login, password in logins.items():
            self._say(f"  login {login}, password {password}")

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def _family(port: int, *, demo: bool) -> list[Child]:
    """In the order of their start: those after the outside services get to know where these are."""
    manage = [sys.executable, "manage.py"]
    web = ["-m", "gunicorn", "--config", "python:config.gunicorn", "--bind", f"127.0.0.1:{port}", "config.wsgi"]
    family = [Child("web", [sys.executable, *web], WEB_GRACE), Child(QUEUE, [*manage, "qcluster"], QUEUE_GRACE)]
    if not demo:
        return family
    places = settings.DATA_FOLDER / "outside.json"
    serve = ["-m", "examples.outside", "serve", "--data", str(settings.DATA_FOLDER / "outside")]
    outside = [sys.executable, *serve, "--ports-file", str(places)]
    return [
        Child("outside", outside, OUTSIDE_GRACE, tells=places),
        *family,
        Child("demo", [*manage, "demo", "--port", str(port)], 0.0, once=True),
    ]

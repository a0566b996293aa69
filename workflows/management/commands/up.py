"""`manage.py up`: everything on one machine, until Ctrl-C."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connection

from config.house.children import Child
from config.house.supervisor import QUEUE, House
from workflows import queue

WEB_GRACE = 8.0  # seconds: gunicorn itself gives open requests five
QUEUE_GRACE = 15.0  # seconds for calls under way; what is cut off then is unknown, and looked at by the next start


class Command(BaseCommand):
    help = "Runs everything on one machine: database, web, queue and, with the demo, the outside services."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="the port of the console and the API")
        parser.add_argument("--no-demo", action="store_true", help="no outside services, no demo logins")

    def handle(self, *args: Any, port: int, no_demo: bool, **options: Any) -> None:
        with House(settings.DATA_FOLDER, port, self._say) as house:
            call_command("migrate", interactive=False, verbosity=0)
            queue.ring()  # for the work that waits since last time
            connection.close()
            house.keep(_family(port, demo=not no_demo), ready=lambda: self._say(f"Makegood is ready: {house.url}"))

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def _family(port: int, *, demo: bool) -> list[Child]:
    python = sys.executable
    web = [python, "-m", "gunicorn", "--config", "python:config.gunicorn", "--bind", f"127.0.0.1:{port}", "config.wsgi"]
    outside = settings.DATA_FOLDER / "outside"
    serve = [python, "-m", "examples.outside", "serve", "--data", str(outside)]
    return [
        *([Child("outside", serve, WEB_GRACE, tells=outside / "outside.json")] if demo else []),
        Child("web", web, WEB_GRACE),
        Child(QUEUE, [python, "manage.py", "qcluster"], QUEUE_GRACE),
    ]

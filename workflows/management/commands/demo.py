"""`manage.py demo`: what `up` does once, so that the console has something to show; it speaks as any agent does."""

from __future__ import annotations

import argparse
import http.client
import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command

from workflows.management.base import PlainCommand

MANIFEST = "examples/demo/manifest.yaml"
STATE = "demo.json"  # in the data folder, for its owner only: the demo agent's key, and whether all was played
STORIES = ("1", "2", "3", "4")  # the fifth kills a worker, which is for the person who tries it
LOOK_EVERY = 0.5  # seconds


class Command(PlainCommand):
    help = "Applies the demo's manifest, makes its agent and plays its stories, once. `up` runs it."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="the port of the console and the API")

    def handle(self, *args: Any, port: int, **options: Any) -> None:
        file = settings.DATA_FOLDER / STATE
        state: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        if state.get("played"):
            return
        call_command("apply", str(settings.BASE_DIR / MANIFEST), stdout=io.StringIO())
        if "key" not in state:
            said = io.StringIO()
            call_command("create_agent", "demo", tools=["*"], workflows=["*"], json=True, stdout=said)
            state["key"] = json.loads(said.getvalue())["key"]
            _keep(file, state)
        while not _ready(port):
            time.sleep(LOOK_EVERY)
        self.stdout.write("The demo's agent is at work; what becomes of it stands in the console.")
        self.stdout.flush()
        stories = [word for story in STORIES for word in ("--story", story)]
        agent = [sys.executable, "-m", "examples.demo.agent", "--url", f"http://127.0.0.1:{port}", *stories]
        told = settings.DATA_FOLDER / "demo.log"
        with told.open("w", encoding="utf-8") as stream:
            code = subprocess.call(
                agent, cwd=settings.BASE_DIR, env={**os.environ, "MAKEGOOD_KEY": state["key"]}, stdout=stream
            )
        if code:
            sys.exit(code)
        _keep(file, {**state, "played": True})


def _ready(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/health/ready")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _keep(file: Path, state: dict[str, Any]) -> None:
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as stream:
        json.dump(state, stream)

"""A house for the stories: the outside services by the demo's own command, a web thread, a drain's process."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from examples.demo.agent import Api
from tests.demo.sights import Outside
from tests.demo.worker import Worker
from workflows import waiting
from workflows.authority.keys import make_key
from workflows.models import Agent

Json = dict[str, Any]
EXAMPLES = Path(__file__).parents[2] / "examples"

# The services start in about a second; this is for a machine that does much else.
START = 60


@contextlib.contextmanager
def outside_services(data: Path) -> Iterator[dict[str, str]]:
    """Starts them on free ports; yields what belongs into the environment."""
    ports = data / "outside.json"
    ports.unlink(missing_ok=True)
    command = [sys.executable, "-m", "examples.outside", "serve", "--data", str(data), "--pipe"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        try:
            for _ in range(START * 20):
                if ports.exists() or process.poll() is not None:
                    break
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(0.05)
            yield json.loads(ports.read_text())
        finally:
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(START) == 0


@pytest.fixture(scope="session")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with outside_services(tmp_path_factory.mktemp("outside") / "with a space") as environment:
        yield environment


@pytest.fixture
def there(outside: dict[str, str]) -> Iterator[Outside]:
    with httpx.Client(trust_env=False, timeout=30) as web:
        yield Outside(outside, web)


@pytest.fixture
def house(
    there: Outside, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> Iterator[Callable[[str], Api]]:
    """`house("demo/manifest.yaml")`: that manifest applied, and an agent that may use all of it."""
    for name, value in there.environment.items():
        monkeypatch.setenv(name, value)
    settings.MAKEGOOD_ENV = there.environment["MAKEGOOD_ENV"].split(",")

    def open_with(manifest: str) -> Api:
        call_command("apply", EXAMPLES / manifest, stdout=io.StringIO())
        agent = Agent.objects.create(name="demo", tools=["*"], workflows=["*"])
        return Api(live_server.url, make_key(agent))

    yield open_with
    waiting.ear.close()


@pytest.fixture
def api(house: Callable[[str], Api]) -> Api:
    return house("demo/manifest.yaml")


@pytest.fixture(scope="module")
def one_worker(outside: dict[str, str], django_db_setup: None) -> Iterator[Worker]:
    """It must not outlive its module: it would do the work of other tests on the same database."""
    worker = Worker(outside)
    yield worker
    worker.stop()


@pytest.fixture
def at_work(one_worker: Worker) -> Worker:
    """A drain in its own process; it lives as long as the module, and who kills it starts it again."""
    if not one_worker.alive:
        one_worker.start()
    return one_worker

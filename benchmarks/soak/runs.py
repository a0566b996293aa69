"""The soak's runs: begun a few hundred at a time, and asked how far they are."""

from __future__ import annotations

import io

from django.core.management import call_command
from django.db import connection, transaction

from benchmarks.soak import plan
from workflows import catalog
from workflows.engine.start import StartBody, start_run
from workflows.models import Agent, Effect, Entry, Run
from workflows.tools.manifest import load_texts

TOGETHER = 50


class Runs:
    def __init__(self, number: int, seed: str) -> None:
        call_command("migrate", verbosity=0)
        catalog.apply(load_texts([("soak.yaml", plan.manifest())]))
        call_command("create_agent", "soak", "--tools", "*", "--workflows", "*", stdout=io.StringIO())
        self._agent = Agent.objects.get(name="soak")
        self._left, self._seed = number, seed
        self.number = number

    def feed(self, backlog: int) -> None:
        """Begins so many that `backlog` are not over."""
        room = backlog - Run.objects.filter(state__in=["running", "unwinding"]).count()
        for begin in range(0, min(room, self._left), TOGETHER):
            with transaction.atomic():
                for _ in range(min(TOGETHER, room - begin, self._left)):
                    self._start()

    def _start(self) -> None:
        number = self._left
        self._left -= 1
        body = StartBody(
            workflow="soak",
            subject={"type": "customer", "id": str(number)},
            digest=str(number),
            input={"email": f"c{number}@acme.example"},
        )
        start_run(self._agent, f"{self._seed}-{number}", body)

    def settled(self) -> bool:
        """All are over, or some person's; and nothing moves by itself any more."""
        if self._left or Run.objects.exclude(phase="over").filter(needs_person=False).exists():
            return False
        moving = Effect.objects.filter(state__in=["ready", "dispatched", "pending", "unknown"])
        return not moving.exists() and not Effect.objects.filter(state="acknowledged", verifiable=True).exists()

    def moves(self) -> str:
        """The last entry: another one shows that something moved."""
        return str(Entry.objects.order_by("-id").values_list("id", flat=True).first())

    def over(self) -> int:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM workflows_run WHERE phase = 'over' OR needs_person")
            return int(cursor.fetchone()[0])

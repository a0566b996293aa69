"""A real qcluster whose worker is killed in the middle of a call: nothing is lost, and another goes on at once."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone
from django_q.models import OrmQ, Schedule

from tests.crash import stage
from tests.world.provider import Provider
from workflows import bells, queue
from workflows.models import Attempt, Effect, Entry, Run

pytestmark = pytest.mark.django_db(transaction=True)


@contextlib.contextmanager
def qcluster(log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A cluster of two workers on this test's database; its whole group is gone at the end."""
    command = ["env", f"DATABASE_URL={stage.url()}", "MAKEGOOD_WORKERS=2", sys.executable, "manage.py", "qcluster"]
    with (
        log.open("wb") as out,
        subprocess.Popen(
            command, cwd=settings.BASE_DIR, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
        ) as process,
    ):
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_what_a_killed_worker_of_the_queue_held_is_looked_at_and_goes_on(outside: Provider, tmp_path: Path) -> None:
    assert "No drain has shown a sign of life" in queue.deaf()
    Schedule.objects.all().delete()  # nothing here may have to wait for the sweep
    stage.apply()
    run = stage.start(["seen"])["seen"]
    gate = outside.hold("/seen", where="booked")
    with qcluster(tmp_path / "qcluster.log"):
        assert gate.arrived(timeout=stage.PATIENCE), (tmp_path / "qcluster.log").read_text()
        assert (bells.drains_alive() > 0, queue.deaf()) == (True, ""), "rung for by the cluster's own start"
        effect = Effect.objects.get(run=run)
        os.kill(int(effect.holder.rsplit(":", 2)[1]), signal.SIGKILL)
        gate.release()
        stage.until(lambda: Run.objects.get(id=run.id).phase == "over", (tmp_path / "qcluster.log").read_text())
        stage.until(lambda: bells.drains_alive() > 0, "nobody listens any more")
    assert stage.told(run, outside) == ("verified present", 1, 0)
    events = list(Entry.objects.filter(subject_id=effect.id).order_by("seq").values_list("event", flat=True))
    assert events == ["create", "dispatch", "lose", "verify"]
    assert (Attempt.objects.get().outcome, len(outside.wire("POST"))) == ("", 1)


def test_the_queue_stays_away_when_the_database_ends_every_connection(outside: Provider, tmp_path: Path) -> None:
    stage.apply()
    with qcluster(tmp_path / "qcluster.log"):
        stage.until(lambda: bells.drains_alive() > 0, (tmp_path / "qcluster.log").read_text())
        with bells.connect() as killer:
            assert killer.execute(END_ALL).fetchall()
        connection.close()
        run = stage.start(["seen"])["seen"]
        stage.until(lambda: Run.objects.get(id=run.id).phase == "over", (tmp_path / "qcluster.log").read_text())
    assert stage.told(run, outside) == ("verified present", 1, 0)


END_ALL = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


@pytest.mark.parametrize(("seconds", "rung"), [(300, 1), (-1, 0)], ids=["taken by the dead", "taken by nobody"])
def test_messages_that_dead_clusters_took_silence_no_bell(seconds: int, rung: int) -> None:
    lock = timezone.now() + dt.timedelta(seconds=seconds)
    OrmQ.objects.bulk_create(OrmQ(key="makegood", payload="", lock=lock) for _ in range(queue.MANY_WAITING))
    queue.ring()
    assert OrmQ.objects.count() == queue.MANY_WAITING + rung

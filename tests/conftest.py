"""What every test shares: a PostgreSQL of its own when DATABASE_URL names none."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from config import database
from config.house import postgres
from tests import flushing  # noqa: F401  replaces how tables are emptied between tests

_leases: list[postgres.Lease] = []


def pytest_configure(config: pytest.Config) -> None:
    """One server for all of the workers: the controller starts it, they inherit its address."""
    if not os.environ.get("DATABASE_URL"):
        folder = tempfile.TemporaryDirectory(prefix="makegood-tests-", ignore_cleanup_errors=True)
        _leases.append(postgres.join(Path(folder.name), careless=True))
        config.add_cleanup(folder.cleanup)
        config.add_cleanup(lambda: _leases.pop().close(wait=True))
        database.use(_leases[0].url)

"""Each page of the console over a loaded ledger: few statements, and no big table read from end to end."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from benchmarks.console import measure
from benchmarks.console.load import load
from benchmarks.console.pages import pages
from workflows import rows

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loaded")]
EFFECTS, CASES = 1500, 60
QUERIES = 12
# Django's own, which show nothing of the ledger; and what leads away.
ELSEWHERE = {"admin:login", "admin:logout", "admin:password_change_done", "admin:view_on_site"}


@pytest.fixture(scope="module")
def loaded(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """One ledger for all of these tests, which only read; it is gone with its transaction."""
    with django_db_blocker.unblock(), transaction.atomic():
        load(EFFECTS, CASES, say=lambda line: None)
        yield
        transaction.set_rollback(True)


@pytest.mark.parametrize(
    ("viewer", "only"), [("sees-all", ""), ("sees-small", ""), ("auditor", "people"), ("auditor", "watch")]
)
def test_no_page_reads_a_big_table_whole_or_takes_more_than_twelve_statements(viewer: str, only: str) -> None:
    client, known = measure.browser(viewer), [page for page in pages() if only in page[0]]
    taken = [one for page in known for one in measure.take(client, *page, viewer, turns=0, run=False)]
    many = [one for one in taken if one.statements > QUERIES and not one.file]
    assert not [(one.address, one.statements, one.whole) for one in taken if one in many or one.whole]


def test_every_page_there_is_is_measured() -> None:
    """A page that is new in the urls and not in the list of pages turns this red."""
    client, known = measure.browser("sees-all"), {name for name, _ in pages()}
    missing = []
    for name, arguments in named(get_resolver("repairs.urls").url_patterns):
        listed = name.removesuffix("_change") + "_changelist"  # of a model whose table has no row here
        if not {name, listed} & (known | ELSEWHERE) and client.get(reverse(name, kwargs=arguments)).status_code != 405:
            missing.append(name)
    assert not missing


def test_pages_plan_each_statement_for_its_own_values_and_the_engine_keeps_its_plans() -> None:
    """A plan that is kept for any state reads every run there is for one that few have."""
    client = measure.browser("sees-all")
    with connection.cursor() as cursor:
        cursor.execute("SET plan_cache_mode = auto")
        assert client.get("/runs/?state=open").status_code == 200
        cursor.execute("SHOW plan_cache_mode")
        assert cursor.fetchone() == ("force_custom_plan",)
        rows.now()
        cursor.execute("SHOW plan_cache_mode")
        assert cursor.fetchone() == ("auto",)


RECORDS = tuple(
    f"admin:workflows_{name}_changelist" for name in ("effect", "step", "run", "attempt", "look", "decision")
)
LISTS = ("home", "queue", "runs", "approvals", "tool-sends", "batches", *RECORDS)
HEAVY = re.compile(
    r'"workflows_(?:effect"\."(?:arguments|result|before|poll)|step"\."(?:template|arguments|result)|run"\."input|'
    r'(?:attempt|look)"\."evidence|approval"\."fields|decision"\."inputs)"'
)


def test_d05_no_list_loads_what_can_be_large() -> None:
    client = measure.browser("sees-all")
    for name, address in pages():
        if name in LISTS:
            with CaptureQueriesContext(connection) as seen:
                client.get(address)
            assert not [one["sql"] for one in seen.captured_queries if HEAVY.search(one["sql"])], address


def named(patterns: list[Any], space: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every name in the urls, with arguments that fit its path."""
    for one in patterns:
        if isinstance(one, URLResolver):
            yield from named(one.url_patterns, f"{one.namespace}:" if one.namespace else space)
        elif isinstance(one, URLPattern) and one.name:
            kept = {name: FITS[type(kind).__name__] for name, kind in one.pattern.converters.items()}
            yield f"{space}{one.name}", kept


NIL = uuid.UUID(int=0)
FITS = {
    "UUIDConverter": NIL,
    "IntConverter": 1,
    "StringConverter": "x",
    "SlugConverter": "x",
    "PathConverter": str(NIL),
}

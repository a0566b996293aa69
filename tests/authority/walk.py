"""Walks the console's whole address map: every route, with the ids it takes put in. For tests of who sees what."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

from django.db import connection
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RoutePattern

PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")

# What everybody who is let in does with what is their own. That one has a case open and has read of its taking over;
# whom it was escalated or handed to is told in their tests.
OF_ONESELF_ACTS = {
    "view-save", "view-forget",
    "logout", "factor-begin", "factor-confirm", "factor-remove", "case-here", "case-known", "answer",
    "decline-hand-over", "account-zone",
}  # fmt: skip
OF_ONESELF = {"/admin/login/", "/admin/password_change/", "/admin/password_change/done/"}


@dataclasses.dataclass(frozen=True, slots=True)
class Route:
    name: str
    route: str  # as Django writes it, with <converter:name> for what is put in

    @property
    def parameters(self) -> list[str]:
        return PARAMETER.findall(self.route)

    def address(self, values: dict[str, Any]) -> str:
        """A parameter that has no value is a KeyError: whoever adds a route says what is put in."""
        return "/" + PARAMETER.sub(lambda found: str(values[found[1]]), self.route)


def routes(prefix: str = "", patterns: Any = None) -> Iterator[Route]:
    """All but the API's, health's and the patterns that catch what is left."""
    for one in get_resolver().url_patterns if patterns is None else patterns:
        if not isinstance(one.pattern, RoutePattern):
            continue
        route = prefix + str(one.pattern)
        if isinstance(one, URLResolver):
            if one.namespace != "api" and not route.startswith("api/"):
                yield from routes(route, one.url_patterns)
        elif isinstance(one, URLPattern) and not route.startswith("health/"):
            yield Route(one.name or "", route)


def checksums() -> dict[str, str]:
    """Of every table's rows."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
        )
        tables = [row[0] for row in cursor.fetchall()]
        each = [
            f"SELECT '{name}', md5(coalesce(string_agg(t::text, ',' ORDER BY t::text), '')) FROM \"{name}\" t"
            for name in tables
        ]
        cursor.execute(" UNION ALL ".join(each))
        return dict(cursor.fetchall())

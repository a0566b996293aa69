"""Lists read page by page, through the browser's addresses: each row once, both ways, whatever moves (case D17)."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any
from urllib.parse import urljoin

import pytest
from django.test import Client

from repairs import keyset
from repairs.models import Case, Person
from tests.engine.simulated import World
from workflows.drain import drain_once
from workflows.models import Agent, Run, Team

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
ROWS, SIZE = 25, 10
NEXT = re.compile(r'<a href="([^"]+)" rel="next"')
ROW = re.compile(r'<a (?:href="([^"]+)"[^>]* data-row|[^>]*data-row[^>]* href="([^"]+)")')


@pytest.fixture
def client(person: Make, browse: Make) -> Client:
    found: Client = browse(person("day-desk", "repairer", "manager"))
    return found


@pytest.fixture(autouse=True)
def _short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    known = keyset.page.__kwdefaults__
    assert known is not None
    monkeypatch.setitem(known, "size", SIZE)


@pytest.fixture
def cases(stuck: Make, begin: Make, world: World) -> list[Case]:
    """25 of one moment and one deadline; every second one has a cut-off, the others none."""
    first = stuck()
    for _ in range(ROWS - 1):
        world.script("mail.send", "execute", "refused")
        world.script("crm.contact", "compensate", "refused")
        begin(first.run.workflow)
    drain_once()
    Case.objects.update(opened_at=first.opened_at, deadline=first.deadline, customers=1)
    Case.objects.filter(number__in=list(range(0, 10_000, 2))).update(cutoff=first.deadline)
    return list(Case.objects.order_by("number"))


def walked(client: Client, address: str, between: Callable[[int], None] = lambda _: None) -> list[str]:
    """The addresses of the rows of all pages, in their order."""
    found, turn = [], 0
    while address:
        page = client.get(address).content.decode()
        found += [unescape(one or other) for one, other in ROW.findall(page)]
        more = NEXT.search(page)
        address = urljoin(address, unescape(more[1])) if more else ""
        between(turn)
        turn += 1
    return found


@pytest.mark.usefixtures("cases")
@pytest.mark.parametrize(
    "address",
    ["/repairs/?view=all", "/runs/", "/journal/", "/tools/crm.contact/sends?kind=undoing", "/admin/workflows/effect/",
     "/admin/repairs/case/"],
)  # fmt: skip
def test_d17_every_row_of_a_list_comes_exactly_once(client: Client, address: str) -> None:
    rows = walked(client, address)
    unique = [row for row in rows if "?of=" not in row]  # the journal's lines of one thing lead to the same place
    if not address.startswith("/journal/"):
        assert len(unique) == len(set(unique))
    assert len(rows) >= ROWS


def test_d17_rows_that_come_and_go_between_pages_neither_hide_nor_double_the_others(
    cases: list[Case], client: Client, stuck: Make
) -> None:
    def meanwhile(turn: int) -> None:
        if turn == 0:
            Case.objects.filter(id=cases[-1].id).update(state="resolved", closed_at=cases[-1].opened_at)
            stuck(), stuck()

    rows = walked(client, "/repairs/?view=all", meanwhile)
    assert len(rows) == len(set(rows))
    kept = {f"/repairs/{case.number}/" for case in cases[:-1]}
    assert kept <= set(rows), "a row that was there throughout is missing"


@pytest.mark.usefixtures("cases")
@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("/runs/", "/runs/?state=stuck"),
        ("/repairs/?view=all", "/repairs/?view=free"),
        ("/repairs/?view=all", "/repairs/?view=all&team=nobody"),
        ("/admin/workflows/effect/", "/admin/workflows/attempt/"),
        ("/journal/", "/journal/?of=01a22a5b-057c-72a0-91ee-37c73f6d55ff"),
        ("/tools/crm.contact/sends?kind=undoing", "/tools/crm.contact/sends?kind=act"),
    ],
)
def test_d17_a_cursor_is_good_for_its_own_list_and_filter_only(client: Client, first: str, other: str) -> None:
    more = NEXT.search(client.get(first).content.decode())
    assert more
    after = re.search(r"after=([^&]+)", unescape(more[1]))
    assert after
    assert client.get(urljoin(first, unescape(more[1]))).status_code == 200
    joined = f"{other}{'&' if '?' in other else '?'}after={after[1]}"
    assert client.get(joined).status_code == 400
    assert client.get(f"{first}{'&' if '?' in first else '?'}after={after[1][:-2]}").status_code == 400


@pytest.mark.usefixtures("cases")
@pytest.mark.parametrize("address", ["/repairs/?view=all", "/runs/", "/journal/", "/admin/workflows/effect/"])
def test_d17_a_cursor_is_good_in_the_hands_of_another_team(
    client: Client, person: Make, browse: Make, agent: Agent, address: str
) -> None:
    Agent.objects.update(team="one")
    teams = [Team.objects.create(name=name) for name in ("one", "two")]
    theirs = []
    for name, seen in (("first", teams[:1]), ("second", teams[:1]), ("third", teams)):
        user = person(name, "repairer")
        Person.objects.create(user=user).teams.set(seen)
        theirs.append(browse(user))
    more = NEXT.search(theirs[0].get(address).content.decode())
    assert more
    onward = urljoin(address, unescape(more[1]))
    assert [one.get(onward).status_code for one in (*theirs, client)] == [200, 200, 400, 400], "who sees the same may"


def test_d17_a_list_read_backwards_is_its_mirror(cases: list[Case]) -> None:
    def all_of(order: tuple[str, ...]) -> list[Any]:
        found: list[Any] = []
        after, at = None, cases[0].opened_at
        while True:
            page = keyset.page(Case.objects.all(), order=order, of="mirror", at=at, after=after)
            found += [case.number for case in page.rows]
            if not page.next:
                return found
            _, after = keyset.read(page.next, of="mirror") or (at, None)

    there, back = all_of(("-opened_at", "deadline", "id")), all_of(("opened_at", "-deadline", "-id"))
    assert there == back[::-1]
    assert len(set(there)) == ROWS
    assert Run.objects.count() == ROWS

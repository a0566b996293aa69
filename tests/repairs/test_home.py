"""Home's figures: each is the length of the list that it opens, for whoever looks (case D04)."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any
from urllib.parse import quote_plus

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from repairs import counting, glance, touched, worklist
from repairs.desk import desk_for
from repairs.models import Case, Person
from repairs.words.harm import Harm
from repairs.words.resting import CAUSES
from tests.journal.tampering import past_triggers, sql
from workflows.models import Gauge, Run, Stop, Team
from workflows.states import RunState

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
TILE = re.compile(r'<a class="tile[^"]*" href="([^"]*)"[^>]*><b>([^<]*)</b><span>([^<]*)</span>')
NOW = timezone.now


@pytest.fixture
def client(repairer: User, browse: Make) -> Client:
    found: Client = browse(repairer)
    return found


@pytest.fixture
def cases(stuck: Make, repairer: User) -> list[Case]:
    """Open cases of each harm: held, waiting, snoozed, late, not to be checked; and a closed one."""
    made = [stuck() for _ in range(9)]
    soon, over = NOW() + dt.timedelta(hours=2), NOW() - dt.timedelta(hours=2)
    unlike: list[dict[str, Any]] = [
        {"harm": Harm.UNKNOWN, "claimed_by": repairer, "lease_until": soon, "fence": 1, "cutoff": soon},
        {"harm": Harm.WRONG, "state": "waiting"},
        {"harm": Harm.STANDS, "state": "waiting", "snoozed_until": soon, "snooze_cause": next(iter(CAUSES))},
        {"harm": Harm.HELD, "reasons": [{"code": "unreachable"}]},
        {"harm": Harm.ABSENT, "deadline": over},
        {"harm": Harm.UNKNOWN, "reasons": [{"code": "poison"}]},
        {"harm": Harm.UNKNOWN, "claimed_by": repairer, "lease_until": over, "fence": 1},
        {"state": "resolved", "closed_at": over},
        {"harm": Harm.SAID},
    ]
    for case, fields in zip(made, unlike, strict=True):
        Case.objects.filter(id=case.id).update(**fields)
    return made


def tiles(client: Client) -> Iterator[tuple[str, str, int]]:
    """(title, address, figure) of every figure on home."""
    for address, figure, title in TILE.findall(client.get("/").content.decode()):
        yield unescape(title), unescape(address), int(figure)


@pytest.mark.usefixtures("cases")
def test_d04_every_figure_is_the_length_of_the_list_that_it_opens(client: Client) -> None:
    seen = list(tiles(client))
    assert len(seen) == len(worklist.VIEWS) + len(Harm) + 1 - 1  # the view of what isn't known is one of the harms
    for title, address, figure in seen:
        assert client.get(address).content.decode().count("data-row") == figure, title


@pytest.mark.usefixtures("cases")
def test_d04_the_figures_of_what_is_outside_are_all_that_is_open_each_case_once(repairer: User) -> None:
    team = dict(glance.rows(desk_for(repairer), Case.objects.all(), NOW()))["Team"]
    whole, *parts = team
    assert whole.count == 8
    assert sum(one.count for one in parts) == whole.count
    assert {one.name: one.count for one in parts} == {
        "unknown": 3, "wrong": 1, "stands": 1, "held": 1, "said": 1, "absent": 1,
    }  # fmt: skip


@pytest.mark.usefixtures("cases")
def test_d04_beyond_what_is_counted_each_figure_is_still_its_own(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the first four open cases none may be mine: then "mine" must not be told of those four alone."""
    monkeypatch.setattr(counting, "CAP", 3)
    monkeypatch.setattr(worklist, "CAP", 3)
    monkeypatch.setattr(worklist, "AT_ONCE", 3)
    found = {title: figure for title, _, figure in tiles(client)}
    assert found["All open"] == 4  # one more than is counted: "3+"
    assert found["Claimed by you"] == 1
    assert found["Cases opened by it"] == 1
    assert found["Past deadline"] == 1


def test_d04_every_state_of_a_run_is_a_filter_and_together_they_are_all_runs(stuck: Make, client: Client) -> None:
    run = stuck().run_id
    for state in RunState:
        with connection.cursor() as cursor:
            cursor.execute("UPDATE workflows_run SET state = %s WHERE id = %s", [state.value, run])
        assert f"/runs/{run}/" in client.get(f"/runs/?state={state.value}").content.decode()
        other = RunState.OPEN if state != RunState.OPEN else RunState.FAILED
        assert f"/runs/{run}/" not in client.get(f"/runs/?state={other.value}").content.decode()


def test_home_says_what_is_nearest_and_how_the_systems_are(cases: list[Case], client: Client) -> None:
    page = client.get("/").content.decode()
    assert "next cut-off" in page
    assert re.search(r"<li><a href=\"/tools/crm.contact/\">.*?</a>.*?ok</span>", page, re.DOTALL)
    Stop.objects.create(
        target="tool", name="mail.send", reason="odd", second_person=False, frozen_by="engine", frozen_at=NOW()
    )
    Gauge.objects.create(tool="crm.contact", failures=5, open_until=NOW() + dt.timedelta(minutes=5))
    page = client.get("/").content.decode()
    assert re.search(r"<li><a href=\"/tools/mail.send/\">.*?</a>.*?frozen</span>", page, re.DOTALL)


BANNER = re.compile(r"is frozen since[^·]*?: <bdi>because</bdi>\s*\((.*?)\)\s", re.DOTALL)


def frozen(target: str, name: str) -> None:
    Stop.objects.create(
        target=target, name=name, reason="because", second_person=False, frozen_by="engine", frozen_at=NOW()
    )


def said(client: Client) -> list[str]:
    return BANNER.findall(client.get("/").content.decode())


def test_d04_a_stop_touches_other_cases_or_customers_than_those_it_leads_to(
    stuck: Make, person: Make, browse: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [stuck() for _ in range(3)]
    client = browse(person("on duty", "repairer", "operator"))
    one, two = cases[1].run, cases[2].run
    Case.objects.filter(id=cases[0].id).update(state="resolved", closed_at=NOW())
    Run.objects.filter(id__in=[one.id, two.id]).update(subject_id="same")
    subject = f"{one.subject_type}:same"
    agent = one.agent.name
    for target, name in (("tool", "crm.contact"), ("agent", agent), ("subject", subject), ("tool", "no.tool")):
        frozen(target, name)
    with CaptureQueriesContext(connection) as seen:
        found = said(client)
    assert len(seen) <= 12
    customer = f"/repairs/?view=all&amp;customer={quote_plus(subject)}"
    assert found[2:] == [f'<a href="{customer}">2 open cases, 1 customer</a>'], "three are named"
    for text, narrowed in zip(found, ("cause=crm.contact", f"agent={agent}", "customer="), strict=True):
        address = unescape(re.findall('href="([^"]*)"', text)[0])
        assert narrowed in address
        rows = client.get(address).context["rows"]
        assert {row.case.id for row in rows} == {cases[1].id, cases[2].id}
    Stop.objects.exclude(name="no.tool").delete()
    assert said(client) == ["no open case"]
    frozen("everything", "")
    Run.objects.filter(id=one.id).update(subject_id="another")
    assert said(client)[1] == '<a href="/repairs/?view=all">2 open cases, 2 customers</a>'
    monkeypatch.setattr(touched, "MOST", 1)
    assert said(client)[1] == '<a href="/repairs/?view=all">1+ open cases, 1+ customers</a>'


def test_a_stop_counts_cases_that_whoever_looks_may_not_see(stuck: Make, person: Make, browse: Make) -> None:
    stuck()
    stranger = person("stranger", "repairer")
    Person.objects.create(user=stranger).teams.add(Team.objects.create(name="elsewhere"))
    frozen("tool", "crm.contact")
    assert said(browse(stranger)) == ["no open case"]


def test_home_keeps_to_itself_when_a_system_was_last_read_or_who_one_is(
    stuck: Make, person: Make, browse: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = browse(person("on duty", "operator", "repairer", "approver"))
    bar = " ".join(client.get("/").content.decode().split())
    assert '<small>you: <span lang="en" title="repairer, approver, operator">repairer +2</span></small>' in bar
    assert "you: may only read" in browse(person("guest")).get("/").content.decode()
    assert "read-back" not in bar.split('class="systems"')[-1].split("</ul>")[0]
    for _ in range(2):
        stuck()
    with past_triggers():
        sql("UPDATE workflows_look SET ended_at = now() - interval '31 minutes'")
    assert "last read-back 31 min ago" in client.get("/").content.decode()
    with past_triggers():
        last = "(SELECT id FROM workflows_look ORDER BY id DESC LIMIT 1)"
        sql(f"UPDATE workflows_look SET ended_at = now(), reached = false WHERE id = {last}")
    assert "last read-back 31 min ago" in client.get("/").content.decode(), "nobody answered since"
    monkeypatch.setattr(glance, "LOOKS", 1)
    assert "the latest read-back was not answered" in client.get("/").content.decode()


def test_a_figure_without_a_definition_or_rows_is_no_figure(repairer: User) -> None:
    for _, row in glance.rows(desk_for(repairer), Case.objects.all(), NOW()):
        for one in row:
            assert one.means
            assert one.at.startswith("/")

"""Teams at every address: what is another team's is answered like what never was, and looking changes nothing."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
from django.apps import apps
from django.db import DatabaseError, connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext

from repairs import scope
from repairs.desk import desk_for
from repairs.models import Case, Person
from repairs.site import site
from tests.api.conftest import Caller
from tests.authority.places import MARK, SHARED
from tests.authority.walk import OF_ONESELF, OF_ONESELF_ACTS, Route, checksums, routes
from workflows.models import Agent, AgentKey, Decision, Effect, Team

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
EVERYBODY = ("repairer", "approver", "manager", "operator")
MALFORMED = ("1'", str(10**30), "%00", "..", "%E2%80%AE")
TOKEN = re.compile(rb'name="csrfmiddlewaretoken" value="\w+"')
MADE_AT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d(:|%3A)\d\d(:|%3A)[\d.]+")


@pytest.fixture
def ours(person: Make, browse: Make) -> Client:
    """Somebody of team one, who has every role."""
    user = person("one", *EVERYBODY)
    Person.objects.create(user=user).teams.add(Team.objects.get_or_create(name="one")[0])
    client: Client = browse(user)
    return client


def told(client: Client, route: Route, address: str) -> tuple[int, bytes]:
    """By GET, and where the route takes none, by POST."""
    answer = client.get(address)
    if answer.status_code == 405:
        answer = client.post(address, {"why": "x"})
    return answer.status_code, TOKEN.sub(b"", answer.content)


def test_d12_another_team_s_things_unknown_ones_and_malformed_ids_are_told_alike_at_every_address(
    places: dict[str, dict[str, Any]], ours: Client
) -> None:
    own = {**SHARED, **places["ours"]}
    nothing = told(ours, Route("", ""), "/no/such/page/")
    assert nothing[0] == 404
    walked = set()
    for route in routes():
        if route.route.startswith("admin/"):
            continue  # records: below
        for parameter in route.parameters:
            shared = parameter in SHARED
            unknown = str(uuid.uuid4()) if parameter.endswith("_id") else "987654321"
            tried = [unknown, *MALFORMED] if shared else [places["theirs"][parameter], unknown, *MALFORMED]
            for value in tried:
                address = route.address({**own, parameter: value})
                assert told(ours, route, address) == nothing, address
                walked.add(route.name)
    assert {"case", "claim", "confirm", "run", "effect", "effect-arguments", "agent", "agent-key-revoke"} <= walked
    assert {"approval", "lift"} <= walked


ASKED_BY_QUERY = [
    "/journal/?of={run_id}", "/journal/?of={effect_id}", "/journal/?of={approval_id}",
    "/repairs/?q=C-{number}", "/repairs/export?q=C-{number}", "/repairs/export?form=jsonl&q=C-{number}",
    "/runs/?external_id=order-{word}", "/runs/export?external_id=order-{word}", "/runs/?subject=id-{word}",
    "/admin/workflows/attempt/?effect_id={effect_id}", "/admin/workflows/attempt/export?effect_id={effect_id}",
    "/admin/workflows/effect/?run_id={run_id}", "/admin/workflows/effect/export?run_id={run_id}",
]  # fmt: skip


def test_d12_what_is_another_team_s_is_found_by_a_search_a_filter_or_a_file_of_them(
    places: dict[str, dict[str, Any]], ours: Client
) -> None:
    """Asked for by an id in a query it is answered like one that nothing has, byte for byte but for that id and now."""
    sent = Effect.objects.filter(sends__isnull=False)
    for whose, run in (("ours", places["ours"]["run_id"]), ("theirs", places["theirs"]["run_id"])):
        places[whose]["effect_id"] = sent.filter(run=run).earliest("id").id
    unknown = {name: "987654321" if name == "number" else uuid.uuid4() for name in places["ours"]}
    words = (places["ours"], "ours"), (places["theirs"], MARK), (unknown, "nobody0")
    for query in ASKED_BY_QUERY:
        own, theirs, nothing = [said(ours, query, {**values, "word": word}) for values, word in words]
        assert theirs == nothing, query
        assert own != nothing, f"{query} finds nothing of anybody's"


def said(client: Client, query: str, values: dict[str, Any]) -> tuple[int, str]:
    answer = client.get(query.format(**values))
    body = answer.getvalue() if answer.streaming else TOKEN.sub(b"", answer.content)
    text = MADE_AT.sub("", body.decode())
    for value in values.values():
        text = text.replace(str(value), "")
    return answer.status_code, text


def test_d12_somebody_who_may_only_look_does_something_by_posting_at_some_address(
    places: dict[str, dict[str, Any]], person: Make, browse: Make
) -> None:
    """Acts say no, pages and records take no post at all, and nothing is written, least of all that it was done."""
    looks, own = browse(person("looks")), {**SHARED, **places["ours"]}
    form = {"why": "because", "action": "delete_selected", "_selected_action": own["effect_id"], "post": "yes"}
    before, answers = checksums(), {}
    for route in routes():
        address = route.address({**own, "key": own["run_id"]})
        if route.name not in OF_ONESELF_ACTS and address not in OF_ONESELF:
            answers[address] = looks.post(address, form).status_code
    assert {address: status for address, status in answers.items() if status not in (403, 405)} == {}
    assert {status for address, status in answers.items() if address.startswith("/admin/")} == {405}
    assert sum(status == 403 for status in answers.values()) >= 60, "hardly any act was tried"
    assert checksums() == before


def test_d02_a_form_that_says_two_things_at_once_does_one_of_them_at_some_address(
    places: dict[str, dict[str, Any]], ours: Client
) -> None:
    """Two buttons, two reasons, two effects: nobody can tell which was meant, and Django takes the last."""
    own = {**SHARED, **places["ours"]}
    before, answers = checksums(), {}
    for route in routes():
        if not route.route.startswith("admin/") and ours.get(address := route.address(own)).status_code == 405:
            answer = ours.post(address, {"why": "because", "how": ["alone", "propose"]})
            answers[address] = answer.status_code, "how is given twice" in answer.content.decode()
    assert {address: said for address, said in answers.items() if said != (400, True)} == {}
    assert len(answers) >= 60, "hardly any act was tried"
    assert checksums() == before


def test_records_of_another_team_are_not_found_either(places: dict[str, dict[str, Any]], ours: Client) -> None:
    nothing = told(ours, Route("", ""), "/no/such/page/")
    for model in site._registry:
        base = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        assert MARK not in ours.get(base).content.decode(), base
        mine = set(scope.visible(_desk(ours), model).values_list("pk", flat=True))
        pks = list(model._default_manager.values_list("pk", flat=True))
        for pk in [*[pk for pk in pks if pk in mine][:1], *[pk for pk in pks if pk not in mine][:3]]:
            status, body = told(ours, Route("", ""), f"{base}{pk}/")
            assert (status == 200) if pk in mine else ((status, body) == nothing), f"{base}{pk}/"
            assert MARK.encode() not in body
        for value in (uuid.uuid4(), *MALFORMED[:3]):
            assert told(ours, Route("", ""), f"{base}{value}/") == nothing, f"{base}{value}/"


def _desk(client: Client) -> Any:
    return client.get("/").context["desk"]


def test_every_model_on_the_records_page_is_placed_in_a_team_or_said_to_be_everybody_s() -> None:
    placed = {*scope.AGENT_OF, *scope.BY_TEAM, "workflows.Team", *scope.SHARED, *scope.FOR_ALL_OR_NONE, scope.OF_A_RUN}
    assert {model._meta.label for model in site._registry} <= placed


def test_belonging_to_teams_costs_a_page_no_query(
    places: dict[str, dict[str, Any]], ours: Client, person: Make, browse: Make
) -> None:
    everybody = browse(person("somebody", *EVERYBODY))
    for address in ("/", f"/runs/{places['ours']['run_id']}/", f"/agents/{places['ours']['agent_id']}/"):
        numbers = []
        for client in (ours, everybody):
            with CaptureQueriesContext(connection) as seen:
                assert client.get(address).status_code == 200
            numbers.append(len(seen))
        assert numbers[0] == numbers[1] <= 12, address


LISTS = [
    "/", "/repairs/", "/repairs/?view=closed", "/repairs/batches/",
    "/runs/", f"/runs/?agent=agent {MARK}", f"/runs/?subject=id-{MARK}",
    f"/runs/?external_id=order-{MARK}", "/agents/", "/approvals/", "/approvals/?view=decided", "/stops/",
    "/budgets/", "/policies/", "/tools/", "/tools/crm.contact/", "/tools/crm.contact/sends",
]  # fmt: skip


@pytest.mark.parametrize("team", ["one", "above", None])
def test_lists_show_one_s_own_teams_what_is_under_them_and_to_who_has_none_everything(
    places: dict[str, dict[str, Any]], person: Make, browse: Make, team: str | None
) -> None:
    user = person("somebody", *EVERYBODY)
    if team:
        made, _ = Team.objects.get_or_create(name=team)
        Person.objects.create(user=user).teams.add(made)
        if team == "above":
            Team.objects.filter(name__in=["one", "two"]).update(parent=made)
    client, found = browse(user), set()
    for address in LISTS:
        page = client.get(address).content.decode()
        page = page.replace(urlencode(parse_qsl(address.partition("?")[2])), "")  # the links to the same rows as files
        if MARK in page.replace(f'value="agent {MARK}"', "").replace(f'value="id-{MARK}"', "").replace(
            f'value="order-{MARK}"', ""
        ):
            found.add(address)
    assert bool(found) is (team != "one"), found
    counted = client.get("/").context["open_cases"]
    assert counted == (1 if team == "one" else 2), "a figure and its rows are of the same teams"


def test_looking_at_everything_changes_nothing(places: dict[str, dict[str, Any]], person: Make, browse: Make) -> None:
    approver = browse(person("approver", *EVERYBODY))
    agent = Agent.objects.get(id=places["ours"]["agent_id"])
    caller = Caller(agent)
    caller.get("runs")
    assert AgentKey.objects.filter(last_used_at__isnull=False).exists()  # use is noted once a minute, and now it is
    approver.get("/")
    before = checksums()
    own = {**SHARED, **places["ours"]}
    for route in routes():
        if "<path:key>" in route.route:
            route = Route(route.name, route.route.replace("<path:key>", str(own["run_id"])))
        address = route.address(own)
        for look in (approver.get, approver.head):
            assert look(address).status_code in (200, 302, 400, 403, 404, 405, 409), address
    run, effect = own["run_id"], own["effect_id"]
    of_run = (f"runs/{run}", f"runs/{run}/seal", f"runs/{run}/cancel", f"runs/{run}/steps", f"effects/{effect}")
    for path in ("runs", *of_run, "tools", "workflows", "schema/", "docs/"):
        for method in ("GET", "HEAD"):
            headers = {"Authorization": f"Bearer {caller.key}"}
            assert caller.client.generic(method, f"/api/v1/{path}", headers=headers).status_code in (200, 405), path
    assert {name: sum_ for name, sum_ in checksums().items() if sum_ != before[name]} == {}


def test_a_list_of_what_a_small_team_did_is_led_by_its_runs_and_holds_the_same_rows(
    places: dict[str, dict[str, Any]], ours: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found by what all did, a team with a handful of runs waits for seconds; nothing may be lost or added by it."""
    desk = desk_for(Person.objects.get(user__username="one").user)
    for label in scope.FOUND_BY:
        model = apps.get_model(label)
        everything = {row.pk for row in scope.visible(desk, model)}
        assert {row.pk for row in scope.listed(desk, model)} == everything, label
        with monkeypatch.context() as many:
            many.setattr(scope, "FEW", 0)
            assert {row.pk for row in scope.listed(desk, model)} == everything, label
    assert Decision.objects.exclude(agent__in=desk.agents).exists(), "nobody else did anything"


def test_cases_of_a_team_are_found_without_reading_runs(places: dict[str, dict[str, Any]], ours: Client) -> None:
    desk = desk_for(Person.objects.get(user__username="one").user)
    assert "workflows_run" not in str(scope.visible(desk, Case).query)
    assert scope.visible(desk, Case).exists()
    assert not Case.objects.exclude(agent=F("run__agent")).exists()


def test_a_case_never_changes_whose_it_is(places: dict[str, dict[str, Any]]) -> None:
    case = Case.objects.earliest("number")
    other = Agent.objects.exclude(id=case.agent_id).first()
    with pytest.raises(DatabaseError):
        Case.objects.filter(id=case.id).update(agent=other)

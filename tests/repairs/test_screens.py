"""The console over HTTP: who sees what, how many queries a page takes, and that what agents wrote stays text."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from repairs import worklist
from repairs.models import Act, Case, Person
from repairs.site import site
from tests.engine.simulated import World
from tests.repairs.previews import off
from workflows.drain import drain_once
from workflows.models import Effect, Run

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., Any]
QUERIES = 12  # the most that a page may take

HOSTILE = {
    "markup": '</script><img src=x onerror=window.__x=1>" autofocus onfocus=window.__x=1 a="<SCRIPT/Q',
    "hidden": "pay \u202e001\u202c EUR file\u200b.txt ok" + " " * 99 + "rm \U000e0064 a" + "\u0301" * 9,
}


@pytest.fixture
def client(repairer: User, browse: Make) -> Client:
    found: Client = browse(repairer)
    return found


def addresses(case: Case) -> list[str]:
    """One of every page there is."""
    effects = list(Effect.objects.filter(run=case.run))
    pages = [
        "/",
        "/repairs/",
        "/repairs/?view=closed",
        f"/repairs/{case.number}/",
        f"/repairs/{case.number}/hand-over",
        "/runs/",
        f"/runs/{case.run_id}/",
    ]
    pages += [f"/runs/{case.run_id}/{name}" for name in ("time", "journal")]
    pages += [f"/runs/{case.run_id}/effects/{effect.id}" for effect in effects]
    pages += [reverse("admin:index"), reverse("admin:password_change")]
    for model in site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        pages.append(reverse(f"{name}_changelist"))
        row = model._default_manager.first()
        if row is not None:
            pages.append(reverse(f"{name}_change", args=[row.pk]))
    return pages


def test_every_page_answers_a_person_in_at_most_twelve_queries(stuck: Make, client: Client) -> None:
    case = stuck()
    for _ in range(3):
        stuck()
    for address in addresses(case):
        with CaptureQueriesContext(connection) as seen:
            answer = client.get(address)
        assert answer.status_code == 200, address
        assert len(seen) <= QUERIES, f"{address} takes {len(seen)} queries"


def test_nobody_sees_anything_without_logging_in(stuck: Make) -> None:
    case = stuck()
    for address in addresses(case):
        answer = Client().get(address)
        assert answer.status_code == 302, address
        assert answer["Location"].startswith("/admin/login/?next="), address


def test_looking_changes_nothing_and_acts_come_by_post_only(stuck: Make, client: Client) -> None:
    case = stuck()
    for name in ("claim", "release", "look-again", "turn-back", "write-off"):
        assert client.get(reverse(name, args=[case.number])).status_code == 405
    for name in ("confirm", "decline"):
        assert client.get(reverse(name, args=[case.id])).status_code == 405
    assert not Act.objects.exists()


def test_an_act_without_the_forms_token_is_refused(stuck: Make, repairer: User) -> None:
    case = stuck()
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(repairer, backend="django.contrib.auth.backends.ModelBackend")
    assert strict.post(reverse("claim", args=[case.number])).status_code == 403
    assert not Act.objects.exists()


def test_looking_again_from_the_page_leads_back_to_the_case(stuck: Make, client: Client, world: World) -> None:
    case = stuck()
    effect = Effect.objects.get(state="stuck")
    page = client.get(f"/repairs/{case.number}/").content.decode()
    assert "Next safe act" in page
    assert "First ask sim-desk to undo it at the provider by hand; then look again, which only reads." in page
    assert "Put right first what it was refused for. Sends the same request under the same key" in page
    world.things.clear()
    form = {"effect": str(effect.id), "fence": case.fence, "why": "removed by hand"}
    answer = client.post(reverse("look-again", args=[case.number]), form, follow=True)
    assert "The engine looks again" in answer.content.decode()
    drain_once()
    assert "Nothing of this run needs a person any more" in client.get(f"/repairs/{case.number}/").content.decode()


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"why": ""}, 400, "Say why, in a sentence."),
        ({"fence": "99"}, 409, "read it again before you act"),
        ({"fence": "x"}, 400, "This form is not whole"),
        ({"effect": "no"}, 400, "This form is not whole"),
        ({"effect": "019a0000-0000-7000-8000-000000000000"}, 404, "has no such effect"),
    ],
)
def test_a_refused_act_says_why_and_keeps_what_was_typed(
    stuck: Make, client: Client, change: dict[str, str], status: int, words: str
) -> None:
    case = stuck()
    effect = Effect.objects.get(state="stuck")
    form = {"effect": str(effect.id), "fence": str(case.fence), "why": "typed with care", **change}
    answer = client.post(reverse("look-again", args=[case.number]), form)
    page = answer.content.decode()
    assert answer.status_code == status
    assert words in page
    assert form["why"] in page
    assert not Act.objects.filter(kind="look_again").exists()


def test_a_write_off_is_proposed_and_confirmed_from_the_page(
    stuck: Make, client: Client, person: Make, browse: Make
) -> None:
    case = stuck()
    effect = Effect.objects.get(state="stuck")
    form = {"effect": effect.id, "fence": case.fence, "seq": effect.seq, "why": "it may stay", "how": "propose"}
    form["preview"] = off(case, effect.id, User.objects.get(username="repairer"))
    client.post(reverse("write-off", args=[case.number]), form)
    assert (
        "Another person in the role approver must confirm it."
        in client.get(f"/repairs/{case.number}/").content.decode()
    )
    proposal = Act.objects.get(kind="propose_write_off")
    refused = client.post(reverse("confirm", args=[proposal.id]), {"why": "yes"})
    assert refused.status_code == 403
    approver = person("approver", "approver")
    other = browse(approver)
    assert "Confirm: write off" in other.get(f"/repairs/{case.number}/").content.decode()
    other.post(reverse("confirm", args=[proposal.id]), {"why": "agreed", "preview": off(case, effect.id, approver)})
    drain_once()
    assert Case.objects.get(id=case.id).state == "written_off"


def test_nobody_is_shown_a_button_that_would_be_refused(stuck: Make, person: Make, browse: Make) -> None:
    case = stuck()
    page = browse(person("ray", "manager")).get(f"/repairs/{case.number}/").content.decode()
    for name in ("claim", "look-again", "write-off"):
        assert reverse(name, args=[case.number]) not in page
    browse(person("approver", "repairer")).post(reverse("claim", args=[case.number]))
    page = browse(person("another", "repairer")).get(f"/repairs/{case.number}/").content.decode()
    assert "holds this case; take it over before you act." in page
    for name in ("look-again", "write-off"):
        assert reverse(name, args=[case.number]) not in page


class Tags(HTMLParser):
    """Every element and attribute of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, list[str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, [name for name, _ in attrs]))


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_agents_and_providers_wrote_is_shown_as_text_on_every_page(
    world: World, tool: Make, workflow: Make, begin: Make, client: Client, text: str
) -> None:
    tool("crm.contact", residue=f"A contact {text} stands.", owner=text[:60])
    tool("mail.send")
    world.script("mail.send", "execute", "refused")
    world.script("crm.contact", "compensate", "refused")
    run = begin(workflow("crm.contact", "mail.send"), input={"said": text, text: 1}, external_id=text[:90])
    Run.objects.filter(id=run.id).update(subject_type=text[:60], subject_id=text[:60], subject_label=text)
    drain_once()
    Effect.objects.filter(run=run).update(detail=text, external_ref=text)
    Run.objects.filter(id=run.id).update(end_reason=text)
    case = Case.objects.get(run=run)
    Act.objects.create(
        case=case, kind="claim", by=User.objects.get(), why=text, detail=text, outcome="done", at=case.opened_at
    )
    for address in addresses(case):
        page = client.get(address).content.decode()
        tags = Tags()
        tags.feed(page)
        assert not [tag for tag in tags.seen if any(name.startswith("on") for name in tag[1])], address
        assert [tag for tag, _ in tags.seen].count("script") == page.count('<script src="/static/'), address
        assert all(tag != "img" or "onerror" not in names for tag, names in tags.seen), address
        assert not any(hidden in page for hidden in "\u202e\u202c\u200b\U000e0064"), address
        assert page.rstrip().endswith("</html>"), address
    whole = client.get(f"/runs/{run.id}/effects/{Effect.objects.filter(run=run)[0].id}/arguments.json")
    assert (whole["Content-Type"], whole["X-Content-Type-Options"]) == ("application/json", "nosniff")
    assert whole["Content-Disposition"].startswith("attachment")


def test_a_figure_and_the_rows_behind_it_are_the_same(stuck: Make, client: Client, repairer: User) -> None:
    for answer in ("refused", "refused", "lies"):
        stuck(answer)
    client.post(reverse("claim", args=[Case.objects.all()[0].number]))
    counts = worklist.counts(Case.objects.all(), Case.objects.all()[0].changed_at, repairer.pk)
    assert counts["all"] == 3
    assert counts["mine"] == 1
    for view in worklist.VIEWS:
        page = client.get(f"/repairs/?view={view.name}")
        assert len(page.context["rows"]) == counts[view.name], view.name


def test_pages_of_the_queue_show_every_case_once_and_a_changed_cursor_is_refused(
    stuck: Make, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("repairs.keyset.page.__kwdefaults__", {"size": 2})
    numbers = {stuck().number for _ in range(5)}
    seen: list[int] = []
    address = "/repairs/?view=all"
    while address:
        page = client.get(address)
        seen += [row.case.number for row in page.context["rows"]]
        cursor = page.context["page"].next
        address = f"/repairs/?view=all&after={cursor}" if cursor else ""
    assert sorted(seen) == sorted(numbers)
    first = client.get("/repairs/?view=all").context["page"].next
    assert client.get(f"/repairs/?view=free&after={first}").status_code == 400
    assert client.get(f"/repairs/?view=all&after={first}x").status_code == 400


def test_runs_are_found_by_what_the_api_finds_them_by(stuck: Make, client: Client) -> None:
    run = stuck().run
    stuck()
    for query in (f"subject={run.subject_id}", f"subject={run.subject_type}:{run.subject_id}"):
        assert [one.id for one in client.get(f"/runs/?{query}").context["page"].rows] == [run.id]
    assert len(client.get("/runs/?state=stuck&agent=sim").context["page"].rows) == 2
    assert "No run is like that." in client.get("/runs/?state=completed").content.decode()


@pytest.mark.parametrize(
    "address",
    ["/repairs/99999999/", f"/repairs/{10**30}/", "/repairs/?view=%00", "/runs/?subject=%00", "/runs/?state=x",
     "/runs/019a0000-0000-7000-8000-000000000000/", "/runs/1'/", "/admin/workflows/run/1'/",
     "/admin/workflows/scopehold/a%00b/", "/admin/workflows/attempt/?effect_id=1'"],
)  # fmt: skip
def test_what_is_not_there_is_not_found_whatever_its_name(client: Client, address: str) -> None:
    assert client.get(address).status_code == 404


def test_a_person_with_a_one_time_password_sees_nothing_but_its_change(
    stuck: Make, client: Client, repairer: User
) -> None:
    case = stuck()
    Person.objects.create(user=repairer, must_change=True)
    for address in addresses(case):
        if address != reverse("admin:password_change"):
            answer = client.get(address)
            assert (answer.status_code, answer["Location"]) == (302, "/admin/password_change/"), address
    assert client.post(reverse("claim", args=[case.number])).status_code == 302
    assert not Act.objects.exists()
    new = {"old_password": "a long enough one", "new_password1": "Quite another 7", "new_password2": "Quite another 7"}
    assert client.post("/admin/password_change/", new)["Location"] == "/"
    assert client.get("/").status_code == 200

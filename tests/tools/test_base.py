"""What every tool says of itself: times, scopes, residue, value, arguments; and how Python tools are found."""

from __future__ import annotations

import sys
import types
from typing import Any

import pytest

from tests.tools.calls import call
from tests.tools.test_manifest import CONTACT
from workflows.outcomes import Acknowledged, NotSent, Refused, Unknown, Verdict
from workflows.tools.base import Tool
from workflows.tools.declared import declared
from workflows.tools.expressions import ExpressionError
from workflows.tools.manifest import load_texts
from workflows.tools.noop import Noop
from workflows.tools.registry import build
from workflows.tools.timings import Timings

PROFILE = {
    "effect_class": "irreversible",
    "access": "write",
    "environment": "trusted",
    "observability": "none",
    "autonomy": "auto",
    "privileges": [],
    "owner": "desk",
    "customer_visible": False,
    "residue": "",
}


@pytest.fixture
def contact(monkeypatch: pytest.MonkeyPatch) -> Tool:
    monkeypatch.setenv("MAKEGOOD_ENV", "CRM_URL")
    spec = load_texts([("m.yaml", CONTACT)]).tools["crm.create_contact"]
    return build("crm.create_contact", "http", spec)


def test_the_times_of_an_act_and_of_its_undoing_are_told_in_seconds(contact: Tool) -> None:
    assert contact.timings("execute") == Timings(
        timeout=5.0,
        late=30.0,
        settle=2.0,
        every=5.0,
        looks=6,
        within=600.0,
        attempts=4,
        first=1.0,
        max=60.0,
        retry_within=600.0,
        keyed=True,
        natural=False,
        retention=86_400.0,
        can_look=True,
        verifies=True,
        window=None,
        poll_every=2.0,
        poll_within=600.0,
    )
    undo = contact.timings("compensate")
    assert (undo.keyed, undo.late, undo.window, undo.can_look) == (False, 900.0, 90 * 86_400.0, True)
    abilities = ("before", "compensate.verify", "compensate.before")
    assert [contact.has(one) for one in abilities] == [True, True, False]


def test_scopes_residue_and_value_are_filled_from_the_call(contact: Tool) -> None:
    made = call(arguments={"email": "Office@Example.com", "amount": 1250})
    assert contact.scopes(made) == ["crm:contact:office@example.com"]
    assert contact.residue(made, "execute") == "A contact record for Office@Example.com stands in the CRM."
    assert contact.residue(made, "compensate").startswith("Staff may have seen")
    assert contact.value(made) == {"amount": 1250, "currency": "EUR"}
    unpriced = call(arguments={"email": "a"})
    assert contact.value(unpriced) is None
    assert contact.value(call(arguments={"email": "a", "amount": "12.50"})) is None
    with pytest.raises(ExpressionError, match="has no field 'email'"):
        contact.scopes(call(arguments={}))


@pytest.mark.parametrize(
    ("arguments", "path", "says"),
    [
        ({}, "arguments.email", "is missing"),
        ({"email": "a", "emial": 1}, "arguments.emial", "isn't known; known: amount, email"),
        ({"email": 1}, "arguments.email", 'must be of type "string"'),
        ({"email": "a", "amount": 1.5}, "arguments.amount", 'must be of type "integer"'),
        ([], "arguments", 'must be of type "object"'),
    ],
)
def test_wrong_arguments_are_named_with_their_path(contact: Tool, arguments: Any, path: str, says: str) -> None:
    (flaw,) = contact.check(arguments)
    assert (flaw.path, flaw.message) == (path, says)


def test_a_format_is_asserted_and_a_deep_value_is_an_error_not_a_crash(contact: Tool) -> None:
    contact.spec["arguments"] = {"type": "object", "properties": {"day": {"format": "date"}, "deep": {"$ref": "#"}}}
    assert contact.check({"day": "2026-02-30"})[0].path == "arguments.day"
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"deep": deep}
    assert contact.check(deep)[0].message == "is nested too deep to be checked"


def test_a_tool_without_a_way_answers_by_value() -> None:
    bare = Tool("t.t", {"profile": PROFILE, "execute": {}})
    assert isinstance(bare.send(call()), Refused)
    assert bare.look(call()).verdict is Verdict.INCONCLUSIVE
    assert isinstance(bare.poll(call(), {}), Unknown)
    assert bare.before(call()).verdict is Verdict.INCONCLUSIVE
    with pytest.raises(LookupError, match="declares no compensate"):
        bare.timings("compensate")


def test_a_python_class_that_declares_itself_is_found_and_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fax(Noop):
        declares = {"name": "fax.send", "version": 1, "profile": PROFILE}

    module = types.ModuleType("faxes.tools")
    Fax.__module__, Fax.__qualname__ = "faxes.tools", "Fax"
    module.Fax, module.Noop = Fax, Noop  # type: ignore[attr-defined]
    package = types.ModuleType("faxes")
    package.__path__ = []
    module.__spec__ = types.SimpleNamespace()  # type: ignore[assignment]
    monkeypatch.setitem(sys.modules, "faxes", package)
    monkeypatch.setitem(sys.modules, "faxes.tools", module)
    entries = declared(["faxes", "workflows", "repairs"])
    assert list(entries) == ["fax.send"]
    spec = load_texts([], declared=entries).tools["fax.send"]
    assert isinstance(build("fax.send", "python", spec).send(call()), Acknowledged)


@pytest.mark.parametrize("path", ["nowhere.Tool", "workflows.tools.noop.Nope", "workflows.tools.call.Call", "Noop", ""])
def test_a_class_that_is_no_tool_is_a_clear_error(path: str) -> None:
    with pytest.raises(LookupError):
        build("t", "python", {"class": path, "profile": PROFILE})


def test_outcomes_of_the_noop_are_the_least_that_an_engine_needs() -> None:
    noop = Noop("n", {"profile": PROFILE})
    assert noop.send(call()) == Acknowledged(result={"id": call().key})
    assert noop.look(call()).verdict is Verdict.FOUND
    assert not isinstance(noop.send(call()), NotSent)

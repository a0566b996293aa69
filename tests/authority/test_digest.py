"""Two calls are the same only if they are the same: D09, as a table. Without a database."""

from __future__ import annotations

from typing import Any

import pytest

from workflows.authority.approvals.digest import difference, digest_of

FIELDS: dict[str, Any] = {
    "effect": "e", "key": "k", "agent": "a", "kind": "forward", "operation": "execute",
    "arguments": {"a": 1, "b": [1, 2], "name": "Ren\u00e9"}, "tool": "crm.create", "version": 1, "definition": "d",
    "implementation": "i", "profile": "p", "policy": "starter v1", "target_version": None,
}  # fmt: skip


def with_arguments(**differs: Any) -> dict[str, Any]:
    return {**FIELDS, "arguments": {**FIELDS["arguments"], **differs}}


def test_d09_the_order_of_keys_does_not_matter() -> None:
    turned = {**FIELDS, "arguments": dict(reversed(FIELDS["arguments"].items()))}
    assert digest_of(turned) == digest_of(FIELDS)
    assert difference(FIELDS, turned) == ""


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (with_arguments(a=True), "arguments_changed"),
        (with_arguments(a=1.0), "arguments_changed"),
        (with_arguments(a="1"), "arguments_changed"),
        (with_arguments(a=None), "arguments_changed"),
        (with_arguments(b=[2, 1]), "arguments_changed"),
        (with_arguments(b=[1, 2, 2]), "arguments_changed"),
        (with_arguments(name="Rene\u0301"), "arguments_changed"),  # looks the same, and is another text
        (with_arguments(more=None), "arguments_changed"),
        ({**FIELDS, "tool": "crm2.create"}, "tool_changed"),
        ({**FIELDS, "version": 2}, "tool_changed"),
        ({**FIELDS, "definition": "other"}, "tool_changed"),
        ({**FIELDS, "implementation": "other"}, "tool_changed"),
        ({**FIELDS, "profile": "other"}, "profile_changed"),
        ({**FIELDS, "policy": "starter v2"}, "policy_changed"),
        ({**FIELDS, "target_version": "etag-2"}, "target_changed"),
        ({**FIELDS, "effect": "e2"}, "other_effect"),
        ({**FIELDS, "key": "k2"}, "other_effect"),
        ({**FIELDS, "agent": "b"}, "other_effect"),
        ({**FIELDS, "kind": "compensation"}, "other_effect"),
    ],
)
def test_d09_what_means_something_else_is_another_call(other: dict[str, Any], reason: str) -> None:
    assert digest_of(other) != digest_of(FIELDS)
    assert difference(FIELDS, other) == reason


def test_no_part_can_be_left_out_and_what_is_no_json_has_no_digest() -> None:
    with pytest.raises(KeyError):
        digest_of({name: value for name, value in FIELDS.items() if name != "arguments"})
    with pytest.raises(ValueError, match="JSON"):
        digest_of(with_arguments(a=float("nan")))
    assert difference({}, FIELDS) == "other_effect"

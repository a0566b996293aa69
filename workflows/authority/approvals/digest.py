"""What exactly an approval is of: a versioned list of semantic fields and the digest over them. Pure.

JSON types are kept (1, 1.0, true and "1" all differ), names are sorted, lists keep their order, and texts are compared
by code point, never normalised. What differs from call to call without meaning anything (fence, attempt) is no field.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

VERSION = 1
# Each field with what is said of an approval where it differs from what would be sent now, the gravest first.
REASONS = {
    "effect": "other_effect",
    "key": "other_effect",
    "agent": "other_effect",
    "kind": "other_effect",
    "operation": "other_effect",
    "arguments": "arguments_changed",
    "tool": "tool_changed",
    "version": "tool_changed",
    "definition": "tool_changed",
    "implementation": "tool_changed",
    "profile": "profile_changed",
    "policy": "policy_changed",
    "target_version": "target_changed",
}
WORDS = {
    "other_effect": "it was given for another effect",
    "arguments_changed": "what would be sent is not what was approved",
    "tool_changed": "the tool is not the one that was approved",
    "profile_changed": "the tool's profile is not the one that was approved",
    "policy_changed": "another version of the policy is in force",
    "target_changed": "what it acts on was changed since it was approved",
    "rule_changed": "the policy asks other people, or more of them",
    "approver_lost_rights": "who approved it may not approve it any more",
    "unsettled": "it covers no second send while nobody knows what the first did",
    "version": "its tool's version may not be called until somebody decides about it",
    "revoked": "the approval was taken back",
    "gone": "what it was for is not waiting any more",
}


def digest_of(fields: Mapping[str, Any]) -> str:
    """sha256 in hex. Raises `ValueError` for what isn't JSON, `KeyError` where a field is missing."""
    return hashlib.sha256(text_of(fields).encode()).hexdigest()


def text_of(fields: Mapping[str, Any]) -> str:
    """The JSON that the digest is over: ASCII, so that its bytes are the same everywhere."""
    return _canonical({"digest_version": VERSION, **{name: fields[name] for name in REASONS}})


_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def difference(approved: Mapping[str, Any], present: Mapping[str, Any]) -> str:
    """Why what was approved isn't what would be sent: a word of `WORDS`; empty where both are the same."""
    for name, reason in REASONS.items():
        if name not in approved or _canonical(approved[name]) != _canonical(present[name]):
            return reason
    return ""

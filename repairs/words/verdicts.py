"""Approvals in words: who is asked, what became of it and of the effect, what was read of the target. Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

from repairs.words import clock
from repairs.words.reasons import because
from workflows.states import EffectState


def asked_of(approvers: Any) -> str:
    """Whom the policy asks."""
    if isinstance(approvers, str):
        return f"the role {approvers}"
    return ", ".join(str(one) for one in approvers or []) or "nobody"


def ending(state: str, void_reason: str, detail: str) -> str:
    """How an approval ended, as a sentence's clause; "" while it is asked."""
    match state:
        case "granted":
            return "approved"
        case "spent":
            return "approved and used"
        case "refused":
            return f"refused{f': {detail}' if detail else ''}"
        case "expired":
            late = "approved, but not sent in its time" if void_reason == "too_late" else "nobody decided in time"
            return f"expired: {late}"
        case "void":
            return f"void: {detail or void_reason.replace('_', ' ') or 'no reason was recorded'}"
        case _:
            return ""


def outcome(effect: Any, sent_at: dt.datetime | None) -> str:
    """What became of the effect itself: the engine's facts, never an intention. `effect` has state, reason, kind."""
    sent = f"sent {time_of(sent_at)}" if sent_at else "sent"
    match EffectState(effect.state):
        case EffectState.BLOCKED:
            return f"not sent: it {because(effect.reason)}" if effect.reason else "not sent yet"
        case EffectState.READY:
            return "not sent yet: it is due"
        case EffectState.DISPATCHED:
            return "a call is going on now; nobody knows yet what it does"
        case EffectState.PENDING:
            return f"{sent}; the provider accepted it and is still at it"
        case EffectState.ACKNOWLEDGED if effect.verifiable:
            return f"{sent}; the provider said yes, no look has shown it yet"
        case EffectState.ACKNOWLEDGED:
            return f"{sent}; the provider said yes, and it can't be looked at"
        case EffectState.VERIFIED:
            return f"{sent}, verified {time_of(effect.verified_at)}"
        case EffectState.UNKNOWN:
            return f"{sent}, and nobody knows what it did; it is being looked at"
        case EffectState.STUCK:
            return f"stuck: {because(effect.reason, undoing=effect.kind == 'compensation')}; a person must act"
        case EffectState.FAILED:
            return f"not done: {because(effect.reason)}"
        case EffectState.CANCELLED:
            return "never sent: it was called off"
        case EffectState.UNDONE:
            return f"{sent}, and undone since"
        case EffectState.WRITTEN_OFF:
            return "written off: people decided to leave it as it is"


def time_of(moment: dt.datetime | None) -> str:
    return f"{clock.local(moment):%H:%M:%S}" if moment else "at an unknown time"


READ_BY = {
    "before": "what it will change, read by its tool",
    "look": "whether it is there already, by a look",
}


def seen(read: Mapping[str, Any], *, undoing: bool) -> str:
    """What a read of the target showed, in a clause."""
    if read.get("by") != "look":
        return "as below" if read.get("image") else "nothing that is kept"
    match str(read.get("verdict")):
        case "found":
            return "it is gone already" if undoing else "it is there already, with our mark"
        case "absent":
            return "it still stands" if undoing else "it is not there yet"
        case "differs":
            return "something is there that isn't ours, or isn't as asked"
        case "several":
            return "more than one is there"
        case _:
            return "no clear answer"


def length(seconds: float) -> str:
    """How long somebody looked: "8 s", "3 min"."""
    if seconds < 90:
        return f"{max(round(seconds), 0)} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{round(seconds / 3600)} h"

"""Approvals in words: who is asked, what became of it and of the effect, what was read of the target. Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

from repairs.words import clock
from repairs.words.marked import _
from repairs.words.reasons import because
from workflows.states import EffectState


def asked_of(approvers: Any) -> str:
    """Whom the policy asks."""
    if isinstance(approvers, str):
        return _("the role {role}", role=approvers)
    return ", ".join(str(one) for one in approvers or []) or _("nobody")


def ending(state: str, void_reason: str, detail: str) -> str:
    """How an approval ended, as a sentence's clause; "" while it is asked."""
    match state:
        case "granted":
            return _("approved")
        case "spent":
            return _("approved and used")
        case "refused":
            return _("refused: {detail}", detail=detail) if detail else _("refused")
        case "expired" if void_reason == "too_late":
            return _("expired: approved, but not sent in its time")
        case "expired":
            return _("expired: nobody decided in time")
        case "void":
            return _("void: {why}", why=detail or void_reason.replace("_", " ") or _("no reason was recorded"))
        case _:
            return ""


def outcome(effect: Any, sent_at: dt.datetime | None) -> str:
    """What became of the effect itself: the engine's facts, never an intention. `effect` has state, reason, kind."""
    sent = _("sent {time}", time=time_of(sent_at)) if sent_at else _("sent")
    match EffectState(effect.state):
        case EffectState.BLOCKED:
            return _("not sent: it {waits}", waits=because(effect.reason)) if effect.reason else _("not sent yet")
        case EffectState.READY:
            return _("not sent yet: it is due")
        case EffectState.DISPATCHED:
            return _("a call is going on now; nobody knows yet what it does")
        case EffectState.PENDING:
            return _("{sent}; the provider accepted it and is still at it", sent=sent)
        case EffectState.ACKNOWLEDGED if effect.verifiable:
            return _("{sent}; the provider said yes, no look has shown it yet", sent=sent)
        case EffectState.ACKNOWLEDGED:
            return _("{sent}; the provider said yes, and it can't be looked at", sent=sent)
        case EffectState.VERIFIED:
            return _("{sent}, verified {time}", sent=sent, time=time_of(effect.verified_at))
        case EffectState.UNKNOWN:
            return _("{sent}, and nobody knows what it did; it is being looked at", sent=sent)
        case EffectState.STUCK:
            reason = because(effect.reason, undoing=effect.kind == "compensation")
            return _("stuck: {reason}; a person must act", reason=reason)
        case EffectState.FAILED:
            return _("not done: {reason}", reason=because(effect.reason))
        case EffectState.CANCELLED:
            return _("never sent: it was called off")
        case EffectState.UNDONE:
            return _("{sent}, and undone since", sent=sent)
        case EffectState.WRITTEN_OFF:
            return _("written off: people decided to leave it as it is")


def time_of(moment: dt.datetime | None) -> str:
    """With its day: what was approved on one is sent and seen on another."""
    return f"{clock.local(moment):%d %b %H:%M:%S}" if moment else _("at an unknown time")


READ_BY = {
    "before": _("what it will change, read by its tool"),
    "look": _("whether it is there already, by a look"),
}


def seen(read: Mapping[str, Any], *, undoing: bool) -> str:
    """What a read of the target showed, in a clause."""
    if read.get("by") != "look":
        return _("as below") if read.get("image") else _("nothing that is kept")
    match str(read.get("verdict")):
        case "found":
            return _("it is gone already") if undoing else _("it is there already, with our mark")
        case "absent":
            return _("it still stands") if undoing else _("it is not there yet")
        case "differs":
            return _("something is there that isn't ours, or isn't as asked")
        case "several":
            return _("more than one is there")
        case _:
            return _("no clear answer")


def length(seconds: float) -> str:
    """How long somebody looked: "8 s", "3 min"."""
    if seconds < 90:
        return f"{max(round(seconds), 0)} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{round(seconds / 3600)} h"

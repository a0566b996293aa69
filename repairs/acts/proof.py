"""Who decides shows again who they are: by a code of their second factor, or by their password where they have none.

What can't be taken back wants that within the last minutes; a session may lie open on somebody else's screen.
"""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.conf import settings
from django.contrib.auth import authenticate, update_session_auth_hash
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends.base import SessionBase
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone

from repairs.acts import second_factor
from repairs.desk import Desk
from repairs.words.marked import _
from workflows.errors import Denied

LASTS = dt.timedelta(minutes=5)  # long enough to read a case, too short for a screen left alone over lunch
PROVED = "proved"  # in the session: when, and by which second factor
FIELD = "proof"
SET_UP = _("This installation asks whoever decides for a second factor. Set one up under your name, then decide.")


def wanted(desk: Desk, session: SessionBase, *, strong: bool) -> str:
    """What must be entered for a decision: "" for nothing, "password", "code", or "device": one must be set up first.

    `strong`: it can't be taken back."""
    known = session.get(PROVED) or {}
    recent = timezone.now().timestamp() - known.get("at", 0) < LASTS.total_seconds()
    required = settings.SECOND_FACTOR == "required"
    if desk.factor is None:
        return "device" if required else "password" if strong and not recent else ""
    if known.get("factor") != desk.factor:
        return "code" if strong or required else ""
    return "code" if strong and not recent else ""


def demand(request: HttpRequest, desk: Desk, *, strong: bool) -> None:
    """Raises `Denied` unless it is shown, now or within the last minutes; nothing was decided then."""
    kind = wanted(desk, request.session, strong=strong)
    if not kind:
        return
    if kind == "device":
        raise Denied(SET_UP)
    typed = request.POST.get(FIELD, "")
    if not typed:
        if kind == "code":
            raise Denied(_("Nothing was done: enter your code too; it was last asked for too long ago."))
        raise Denied(_("Nothing was done: enter your password too; it was last asked for too long ago."))
    if kind == "code":
        proved(request.session, factor=second_factor.check(desk.user, typed))
    else:
        password(request, desk)


def password(request: HttpRequest, desk: Desk) -> None:
    """Raises `Denied`. Wrong ones count as wrong logins do, so guessing here ends too."""
    found = authenticate(request, username=desk.user.get_username(), password=request.POST.get(FIELD, ""))
    if found is None:
        raise Denied(_("Nothing was done: that is not your password."))
    update_session_auth_hash(request, found)  # its digest may just have been renewed, which ends sessions
    proved(request.session, factor=None)


def proved(session: SessionBase, *, factor: int | None) -> None:
    """Notes it under a new session key: what could be done with the old one is less."""
    session[PROVED] = {"at": timezone.now().timestamp(), "factor": factor}
    session.cycle_key()


@receiver(user_logged_in, dispatch_uid="makegood-proof")
def entered(request: HttpRequest, **_: Any) -> None:
    """The password was entered just now."""
    request.session[PROVED] = {"at": timezone.now().timestamp(), "factor": None}

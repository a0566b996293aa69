"""Keeping a view of the queue under a name, and forgetting it. Each is the person's own; nobody else sees it."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import User
from django.db import transaction

from repairs import worklist
from repairs.choice import Choice
from repairs.models import SavedView
from repairs.words.marked import _
from workflows import rows
from workflows.errors import Flaw, Invalid
from workflows.visible import is_hidden

MOST = 20  # of a person: more than that nobody finds again
LONGEST = 60


def save(user: User, *, name: str, view: str, choice: Choice) -> SavedView:
    """Under a name that is there already the new one stands. Raises `Invalid`."""
    name = " ".join(name.split())
    if not name or len(name) > LONGEST or any(is_hidden(char) for char in name):
        raise Invalid(
            _("Nothing was saved."),
            [Flaw("name", name[:80], _("must have 1 to {most} visible characters", most=LONGEST))],
        )
    if worklist.view_of(view) is None:
        raise Invalid(_("Nothing was saved."), [Flaw("view", view[:80], _("is no view of open cases"))])
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=user.pk)  # so that two at once are counted one after another
        mine = SavedView.objects.filter(user=user)
        if mine.exclude(name=name).count() >= MOST:
            raise Invalid(
                _("You have {most} views already; forget one first.", most=MOST),
                [Flaw("name", name, _("is one too many"))],
            )
        known = {"view": view, "query": choice.query(), "saved_at": rows.now()}
        return mine.update_or_create(user=user, name=name, defaults=known)[0]


def forget(user: User, saved_id: uuid.UUID) -> bool:
    """Whether there was one to forget."""
    return bool(SavedView.objects.filter(user=user, id=saved_id).delete()[0])

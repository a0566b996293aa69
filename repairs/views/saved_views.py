"""The forms by which a person keeps a view of the queue, and forgets one."""

from __future__ import annotations

import uuid

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse

from repairs import choice as choices
from repairs import worklist
from repairs.acts import saved_view as verbs
from repairs.models import SavedView
from repairs.scope import one
from repairs.views.queue import show_queue
from repairs.views.screen import act, at_desk, tell
from repairs.words.marked import _
from repairs.words.refusals import refusal
from workflows.errors import Invalid


@act
def save(request: HttpRequest) -> HttpResponse:
    user, data = at_desk(request).user, request.POST
    try:
        saved = verbs.save(user, name=data.get("name", ""), view=data.get("view", ""), choice=choices.read(data))
    except Invalid as error:
        shown = QueryDict(mutable=True)
        shown.update({name: data[name] for name in choices.NAMES if name in data})
        if worklist.view_of(data.get("view", "")):
            shown["view"] = data["view"]
        return show_queue(request, shown, status=400, error=refusal(error), typed=data.get("name", ""))
    tell(request, _("Saved as {name}.", name=saved.name))
    return redirect(f"{reverse('queue')}?view={saved.view}&{saved.query}")


@act
def forget(request: HttpRequest, saved_id: uuid.UUID) -> HttpResponse:
    user = at_desk(request).user
    saved = one(SavedView.objects.filter(user=user), id=saved_id)
    verbs.forget(user, saved.id)
    tell(request, _("{name} is forgotten.", name=saved.name))
    return redirect("queue")

"""Our own AdminSite: the login, the password change, and the read-only records of everything else."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.views import PasswordChangeView
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse_lazy
from django.utils import timezone
from django.views.decorators.http import require_safe

from config.house import disk
from repairs import asked, frozen, glasses, worklist
from repairs.acts import proof
from repairs.counting import counts_and_rows
from repairs.desk import desk_of
from repairs.models import Case, Glass, Person
from repairs.scope import visible


class ConsoleSite(AdminSite):
    site_header = "Makegood"
    site_title = "Makegood"
    index_title = "Records"
    login_template = "console/login.html"
    logout_template = "console/logged_out.html"
    index_template = app_index_template = "console/records.html"
    enable_nav_sidebar = False
    final_catch_all_view = True

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        return {**super().each_context(request), **frame(request), "here": "records"}

    def admin_view(self, view: Callable[..., Any], cacheable: bool = False) -> Any:
        """Nothing but the password's change is served to whoever still has the one they were given."""
        checked = super().admin_view(view, cacheable)

        @functools.wraps(checked)
        def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            desk = desk_of(request)
            if desk and desk.must_change and view not in (self.password_change, self.logout):
                return redirect("admin:password_change")
            answer: HttpResponseBase = checked(request, *args, **kwargs)
            return answer

        return inner

    def get_urls(self) -> list[Any]:
        """Only what the console uses: of Django's further addresses each would be one more to guard."""
        unused = ("jsi18n", "autocomplete", "view_on_site")
        return [one for one in super().get_urls() if getattr(one, "name", None) not in unused]

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return require_safe(super().index)(request, extra_context)

    def app_index(self, request: HttpRequest, app_label: str, extra_context: dict[str, Any] | None = None) -> Any:
        return require_safe(super().app_index)(request, app_label, extra_context)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Leads home where nobody was on the way elsewhere."""
        more = dict(extra_context or {})
        if REDIRECT_FIELD_NAME not in request.GET and REDIRECT_FIELD_NAME not in request.POST:
            more[REDIRECT_FIELD_NAME] = "/"
        return super().login(request, more)

    def password_change_done(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        return redirect("home")

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        context = {**self.each_context(request), **(extra_context or {})}
        return PasswordChange.as_view(extra_context=context)(request)


class PasswordChange(PasswordChangeView):
    template_name = "console/password.html"
    success_url = reverse_lazy("home")

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        Person.objects.filter(user=form.user).update(must_change=False)
        return super().form_valid(form)


def frame(request: HttpRequest) -> dict[str, Any]:
    """What every page's frame shows: who is here, how many cases and questions are open, what keeps all work."""
    desk = desk_of(request)
    if desk is None or desk.must_change:
        return {"desk": desk}
    review = glasses.waiting(desk) if desk.reviews else Glass.objects.none()
    lists = worklist.live(visible(desk, Case)), asked.to_decide(desk, timezone.now()), review
    (open_cases, to_decide, to_review), told = counts_and_rows(lists, frozen.told_everywhere(desk))
    return {
        "desk": desk,
        "proof": proof.wanted(desk, request.session, strong=True),
        "proof_weak": proof.wanted(desk, request.session, strong=False),
        "open_cases": open_cases,
        "to_decide": to_decide,
        "to_review": to_review,
        "low_disk": disk.low(),
        "frozen": frozen.notices(told),
    }


site = ConsoleSite(name="admin")

"""The read-only records on our AdminSite: per model a list by keyset (no COUNT, no OFFSET), and one record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib.admin import ModelAdmin
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from repairs import keyset
from repairs.desk import desk_of
from repairs.export.download import download
from repairs.export.rows import Table
from repairs.models import Case
from repairs.scope import listed, one, visible
from repairs.today import TODAY, today
from workflows.admin import Shown
from workflows.models import Effect, Run
from workflows.tools.http.literals import in_spec

DAY = "day"  # the name by which a list is narrowed to today
ADDRESS = "admin:{app}_{name}_{view}"


def page_of(row: models.Model) -> str:
    if isinstance(row, Run):
        return reverse("run", args=[row.id])
    if isinstance(row, Effect):
        return reverse("effect", args=[row.run_id, row.id])
    return reverse("case", args=[row.number]) if isinstance(row, Case) else ""


def told(field: models.Field[Any, Any], value: Any) -> Any:
    """A value as it is shown: a manifest may hold credentials in clear."""
    return in_spec(value) if field.name == "spec" else value


class Records(ModelAdmin[Any]):
    """A model's records, to be read by everybody who may log in. There is no view that writes."""

    shown: Shown

    def has_module_permission(self, request: HttpRequest) -> bool:
        return True  # the site has checked that they may use the console at all

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_change_permission = has_delete_permission = has_add_permission

    def get_urls(self) -> list[URLPattern]:
        app, name = self.opts.app_label, self.opts.model_name
        wrap = self.read_only
        return [
            path("", wrap(self.list_view), name=f"{app}_{name}_changelist"),
            path("export", wrap(self.export_view), name=f"{app}_{name}_export"),
            path("<path:key>/", wrap(self.one_view), name=f"{app}_{name}_change"),
        ]

    def read_only(self, view: Callable[..., HttpResponse]) -> Any:
        return self.admin_site.admin_view(require_safe(view))

    def list_view(self, request: HttpRequest) -> HttpResponse:
        chosen = self.chosen(request)
        of = f"records:{self.opts.label}:{urlencode(sorted(chosen.items()))}"
        start = keyset.read(request.GET.get("after", ""), of=of)
        at, after = start or (timezone.now(), None)
        page = keyset.page(self.narrowed(request, chosen), order=self.shown.order, of=of, at=at, after=after)
        lines = [(self.address(row), [self.value(row, name) for name in self.shown.columns]) for row in page.rows]
        context = {
            "page": page,
            "lines": lines,
            "chosen": chosen,
            "query": urlencode(chosen),
            "moment": self.shown.moment,
        }
        return self.show(request, "console/records_list.html", heads=self.heads(), **context)

    def export_view(self, request: HttpRequest) -> HttpResponse:
        """The list's rows and columns as a file."""
        table = Table(
            name=str(self.opts.verbose_name_plural).replace(" ", "-"),
            columns=tuple(self.heads()),
            rows=self.narrowed(request, self.chosen(request)),
            order=self.shown.order,
            values=lambda row: [self.value(row, name) for name in self.shown.columns],
        )
        answer: HttpResponse = download(request, table)
        return answer

    def chosen(self, request: HttpRequest) -> dict[str, str]:
        names = (*self.shown.narrow, *([DAY] if self.shown.moment else []))
        chosen = {name: value for name in names if (value := request.GET.get(name, "").strip())}
        if any("\x00" in value for value in chosen.values()) or chosen.get(DAY, TODAY) != TODAY:
            raise Http404("No record has such a value.")
        return chosen

    def narrowed(self, request: HttpRequest, chosen: dict[str, str]) -> models.QuerySet[Any]:
        fields = {name: value for name, value in chosen.items() if name != DAY}
        try:
            found: models.QuerySet[Any] = self.rows(request, listed).defer(*self.heavy())
            return found.filter(today(self.shown.moment, by_id=True) if DAY in chosen else Q(), **fields)
        except (ValidationError, ValueError) as error:
            raise Http404("No record has such a value.") from error

    def one_view(self, request: HttpRequest, key: str) -> HttpResponse:
        row = one(self.rows(request), pk=key)
        fields = [f for f in self.opts.concrete_fields if f.name not in self.shown.secret]
        values = [(f.verbose_name, told(f, getattr(row, f.attname)), isinstance(f, models.JSONField)) for f in fields]
        return self.show(
            request, "console/record.html", values=values, key=key, related=self.related(row), page_of=page_of(row)
        )

    def rows(self, request: HttpRequest, found: Callable[..., Any] = visible) -> Any:
        desk = desk_of(request)
        return found(desk, self.model) if desk else self.model._default_manager.none()

    def show(self, request: HttpRequest, template: str, **context: Any) -> HttpResponse:
        more = {"now": timezone.now(), "opts": self.opts, "title": self.opts.verbose_name_plural, **context}
        return render(request, template, {**self.admin_site.each_context(request), **more})

    def heavy(self) -> list[str]:
        """Columns that may be large and that the list doesn't show."""
        wide = (models.JSONField, models.TextField, models.BinaryField)
        return [f.name for f in self.opts.concrete_fields if isinstance(f, wide) and f.name not in self.shown.columns]

    def heads(self) -> list[str]:
        return [name.removesuffix("_id").replace("_", " ") for name in self.shown.columns]

    def value(self, row: models.Model, name: str) -> Any:
        return getattr(row, name)

    def address(self, row: models.Model) -> str:
        return reverse(ADDRESS.format(app=self.opts.app_label, name=self.opts.model_name, view="change"), args=[row.pk])

    def related(self, row: models.Model) -> list[tuple[str, str]]:
        """Lists of other records that belong to it."""
        found = []
        for model, admin in self.admin_site._registry.items():
            if not isinstance(admin, Records):
                continue
            for name in admin.shown.narrow:
                if name == f"{self.opts.model_name}_id":
                    place = ADDRESS.format(app=model._meta.app_label, name=model._meta.model_name, view="changelist")
                    address = f"{reverse(place)}?{urlencode({name: str(row.pk)})}"
                    found.append((str(model._meta.verbose_name_plural), address))
        return found

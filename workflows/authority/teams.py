"""The tree of teams. It is changed here only, so that nothing ever stands above itself; `repairs.desk` reads it."""

from __future__ import annotations

from django.db import transaction

from workflows.errors import Flaw, Invalid
from workflows.marked import _
from workflows.models import Team


def place(team: Team, parent: Team | None) -> None:
    """Puts a team under another, or at the top. Raises `Invalid` where it would come to stand above itself."""
    with transaction.atomic():
        known = {t.pk: t for t in Team.objects.order_by("id").select_for_update()}  # nobody else moves one meanwhile
        path, above = [team.name], known.get(parent.pk) if parent else None
        while above is not None:
            path.append(above.name)
            if above.pk == team.pk:
                way = " under ".join(path)
                raise Invalid("No team was moved.", [Flaw("--under", path[1], f"would make a circle: {way}")])
            above = known.get(above.parent_id) if above.parent_id else None
        team.parent = parent
        team.save(update_fields=["parent"])


def named(name: str, path: str) -> Team:
    """Raises `Invalid` that names the teams there are."""
    found = Team.objects.filter(name=name).first()
    if found is None:
        names = ", ".join(Team.objects.order_by("name").values_list("name", flat=True)[:20]) or "none"
        raise Invalid(
            _("There is no such team."), [Flaw(path, name, _("isn't a team; there are: {names}", names=names))]
        )
    return found

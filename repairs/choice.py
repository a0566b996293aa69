"""What a person narrowed the queue to: read from a page's query or a form, and turned into one condition."""

from __future__ import annotations

import dataclasses
from urllib.parse import urlencode

from django.core.exceptions import SuspiciousOperation
from django.db.models import Exists, OuterRef, Q
from django.http import QueryDict

from repairs.today import TODAY, day_told, today
from repairs.words.harm import TITLES, Harm
from repairs.words.marked import _
from workflows.models import Agent, Effect
from workflows.states import EffectState

LONGEST = 200  # characters of a search or a filter
LONGEST_CUSTOMER = 301  # its type and id, each as wide as its column
WORDS = 5  # of a search; each is one pass over the index
NAMES = ("q", "cause", "team", "tool", "harm", "customer", "day", "agent")  # as addresses and forms have them
HARMS = tuple((harm.value, title) for harm, title in TITLES.items())


@dataclasses.dataclass(frozen=True, slots=True)
class Choice:
    """Empty texts narrow nothing. `words`: parts of names, all of which must be there; `tool`: of a stuck effect;
    `customer`: an id, or type:id."""

    words: str = ""
    cause: str = ""  # a case's signature, or how it begins: a tool, with its version or of any
    team: str = ""
    tool: str = ""
    harm: str = ""
    customer: str = ""
    day: str = ""  # "today": opened on the viewer's day
    agent: str = ""

    def narrowed(self) -> bool:
        return any(dataclasses.astuple(self))

    def q(self) -> Q:
        wanted = Q()
        for word in self.words.lower().split()[:WORDS]:
            number = word.removeprefix("c-")
            one = Q(found_by__contains=word)
            wanted &= one | Q(number=int(number)) if number.isascii() and number.isdigit() and len(number) < 18 else one
        if self.cause:
            begins = Q(signature__startswith=f"{self.cause}: ") | Q(signature__startswith=f"{self.cause} v")
            wanted &= Q(signature=self.cause) | begins
        if self.team:
            wanted &= Q(owner=self.team)
        if self.tool:
            stuck = Effect.objects.filter(run=OuterRef("run"), state=EffectState.STUCK.value, tool__name=self.tool)
            wanted &= Q(Exists(stuck))
        if self.harm:
            wanted &= Q(harm=self.harm)
        if self.customer:
            kind, _, rest = self.customer.partition(":")
            wanted &= Q(run__subject_id=self.customer) | Q(run__subject_type=kind, run__subject_id=rest)
        if self.agent:
            wanted &= Q(agent__in=Agent.objects.filter(name=self.agent).values("id"))
        return wanted & today("opened_at") if self.day else wanted

    def kept(self) -> dict[str, str]:
        """As names of an address and their values; what narrows nothing is left out."""
        return {name: text for name, text in zip(NAMES, dataclasses.astuple(self), strict=True) if text}

    def query(self) -> str:
        return urlencode(self.kept())

    def told(self) -> str:
        """In words, for the record of what was chosen."""
        said = {"q": "named like", "harm": "outside is", "day": "opened"}
        kept = {**self.kept(), **({"day": day_told()} if self.day else {})}
        return ", ".join(f"{said.get(name, name)} {text}" for name, text in kept.items())


def read(data: QueryDict) -> Choice:
    """Raises `SuspiciousOperation` for what no page of ours asks for."""
    given = [data.get(name, "").strip() for name in NAMES]
    if (customer := data.get("customer", "")).strip():
        given[NAMES.index("customer")] = customer  # a name that an agent gave, not one that somebody typed
    most = {"customer": LONGEST_CUSTOMER}
    if any(len(text) > most.get(name, LONGEST) or "\x00" in text for name, text in zip(NAMES, given, strict=True)):
        raise SuspiciousOperation(
            _("A search has at most {most} characters, and none that can't be seen.", most=LONGEST)
        )
    choice = Choice(*given)
    if choice.harm and choice.harm not in {harm.value for harm in Harm}:
        raise SuspiciousOperation(_("There is no such harm."))
    if choice.day not in ("", TODAY):
        raise SuspiciousOperation(_("A day is today, or any."))
    return choice

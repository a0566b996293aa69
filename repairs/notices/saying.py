"""Puts notices into one message: kinds, numbers, teams and a link, and nothing of customers, agents or providers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from django.urls import reverse

from repairs.models.notice import Notice, What
from workflows.visible import parts

MOST_NAMED = 10  # cases and teams in a line; the page behind the link has all

# One, several, and the page where they are. Cases are named by their numbers.
WORDS = {
    What.APPROVAL: ("1 approval is asked for", "{} approvals are asked for", "approvals"),
    What.CASE: ("1 new case", "{} new cases", "queue"),
    What.DEADLINE: ("1 case is nearly or wholly out of time", "{} cases are nearly or wholly out of time", "queue"),
    What.WRITE_OFF: ("1 write-off waits for a second person", "{} write-offs wait for a second person", "queue"),
    What.BATCH: ("1 batch waits for a second person", "{} batches wait for a second person", "batches"),
    What.TAKE_OVER: ("1 case was taken over from who held it", "{} cases were taken over from who held them", "queue"),
    What.HAND_OVER: ("1 case waits for its read-back", "{} cases wait for their read-back", "queue"),
    What.ESCALATION: ("1 case was escalated", "{} cases were escalated", "queue"),
    What.BUDGET: ("1 budget change waits for a second person", "{} budget changes wait for a second person", "budgets"),
    What.CREDENTIAL: ("1 credential is lost", "{} credentials are lost", "home"),
    What.EXPIRING: ("1 approval is nearly out of time", "{} approvals are nearly out of time", "approvals"),
    What.EXPIRED: (
        "1 approval ran out undecided, twice: its act is not sent",
        "{} approvals ran out undecided, twice: their acts are not sent", "approvals",
    ),
    What.GLASS: (
        "1 act that takes two was done alone and waits for its review",
        "{} acts that take two were done alone and wait for their review", "reviews",
    ),
    What.REMARK: ("1 question or answer about an approval", "{} questions and answers about approvals", "approvals"),
    What.PERSON: ("1 change of who may decide", "{} changes of who may decide", "people"),
    What.STOP: ("Everything is stopped", "Everything was stopped {} times", "stops"),
}  # fmt: skip


def message(notices: Sequence[Notice], numbers: Mapping[UUID, int], base: str) -> tuple[str, str]:
    """Title and text. `numbers`: of the cases among the subjects; `base`: the console's address, "" for no links."""
    lines, told = [], []
    for what, (one, several, page) in WORDS.items():
        of = [notice for notice in notices if notice.what == what.value]
        # How many things there are, not how often each is told of; of one case several write-offs may wait.
        count = len({(notice.subject, notice.mark if what == What.WRITE_OFF else "") for notice in of})
        if not count:
            continue
        told.append(one if count == 1 else several.format(count))
        cases = sorted({numbers[notice.subject] for notice in of if notice.subject in numbers})
        said = f": {listed([f'C-{number}' for number in cases])}" if cases else ""
        teams = listed(sorted({plain(notice.team) for notice in of if notice.team}))
        lines.append(told[-1] + said + (f" ({teams})" if teams else "") + ".")
        if base:
            lines.append(base + (reverse("case", args=cases) if len(cases) == 1 else reverse(page)))
    first = told[0][0].lower() + told[0][1:]
    return f"Makegood: {first if len(told) == 1 else f'{len(notices)} notices'}", "\n".join(lines)


def listed(names: Collection[str]) -> str:
    shown = list(names)[:MOST_NAMED]
    more = len(names) - len(shown)
    return ", ".join([*shown, f"{more} more"] if more else shown)


def plain(text: str) -> str:
    """On one line, with hidden characters marked: a team's name comes from a manifest."""
    return "".join(piece for _, piece in parts(" ".join(text.split())))

"""Reading the page of an approval, and saying what a person says there; and what lies in the tables."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from django.db import connection
from django.test import Client

from repairs.words.check import check
from workflows.models import Approval, ApprovalVote, Effect, Entry, Run

Make = Callable[..., Any]
MONEY = {"amount": 48000, "currency": "EUR", "to": "office@cole.example"}
DIGEST = re.compile(r'name="note" value="([^"]+)"')
ACTS = ("approve", "refuse", "take-back", "read")


def page_of(client: Client, approval: Approval, query: str = "") -> str:
    answer = client.get(f"/approvals/{approval.id}/{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def form(client: Client, approval: Approval, query: str = "", **more: str) -> dict[str, str]:
    """What a person sends who has read the page and answers rightly."""
    note = DIGEST.search(page_of(client, approval, query))
    assert note is not None
    asks = check(approval.question, approval.digest)
    return {"note": note[1], "why": "the charge was doubled", "answer": asks.answer if asks else "", **more}


def say(client: Client, approval: Approval, act: str = "approve", **sent: str) -> tuple[int, str]:
    answer = client.post(f"/approvals/{approval.id}/{act}", sent, follow=True)
    return answer.status_code, answer.content.decode().replace("&#x27;", "'")


def state(approval: Approval) -> str:
    return str(Approval.objects.get(id=approval.id).state)


def everything() -> list[Any]:
    tables = (Approval, ApprovalVote, Effect, Run, Entry)
    return [list(table.objects.order_by("id").values()) for table in tables]


def rewrite(statement: str, *values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(statement, values)
        cursor.execute("SET session_replication_role = DEFAULT")

"""makemessages, with the texts of the runbooks too: translators' tools can't read them where they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.commands import makemessages

from repairs.runbook import runbooks
from workflows.management.base import PlainCommand

FOUND = Path("runbook_texts.py")  # there only while they are gathered


class Command(PlainCommand, makemessages.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        FOUND.write_text("".join(f"_({json.dumps(text, ensure_ascii=False)})\n" for text in texts()))
        try:
            super().handle(*args, **options)
        finally:
            FOUND.unlink()


def texts() -> list[str]:
    """Of all runbooks, as a page shows them."""
    found: dict[str, None] = {}
    for runbook in runbooks().values():
        found |= dict.fromkeys([runbook.title, *(text for step in runbook.steps for text in (step.do, step.expect))])
    return list(found)

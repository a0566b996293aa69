"""docs/manifest.md: what stands there is what works."""

from __future__ import annotations

import re
from pathlib import Path

from workflows.tools.manifest import load_texts
from workflows.tools.registry import build

PAGE = Path(__file__).parents[2] / "docs" / "manifest.md"
ENV = {"CRM_URL", "INBOX_URL", "IMAP_HOST", "CALENDAR_URL"}


def test_every_block_of_the_manifest_page_loads_and_builds() -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    assert len(blocks) >= 4
    built = []
    for number, block in enumerate(blocks):
        manifest = load_texts([(f"{PAGE.name} block {number + 1}", block)], env_names=ENV)
        built += [build(name, spec["kind"], spec) for name, spec in manifest.tools.items()]
    assert {tool.spec["kind"] for tool in built} == {"http", "smtp", "caldav", "python"}

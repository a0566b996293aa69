"""manage.py apply: what it prints, what it writes, and that it writes nothing where anything is wrong."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core import checks
from django.core.management import CommandError, call_command

from tests.tools.test_manifest import CONTACT
from workflows.models import Tool, Workflow

pytestmark = pytest.mark.django_db


def applied(*arguments: str) -> Any:
    out = io.StringIO()
    call_command("apply", *arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


@pytest.fixture
def file(tmp_path: Path, settings: Any) -> Path:
    settings.MAKEGOOD_ENV = ["CRM_URL"]
    path = tmp_path / "crm.yaml"
    path.write_text(CONTACT)
    return path


def test_a_manifest_is_added_then_unchanged_and_a_new_version_is_changed(file: Path) -> None:
    names = ["crm.create_contact v1", "client-onboarding v1"]
    assert applied(str(file), "--check")["added"] == names
    assert not Tool.objects.filter(name="crm.create_contact").exists()
    assert applied(str(file)) == {"added": names, "changed": [], "unchanged": [], "gaps": [], "written": True}
    assert applied(str(file))["unchanged"] == names
    file.write_text(
        CONTACT.replace("version: 1\n    kind", "version: 2\n    kind").replace("timeout: 5s", "timeout: 6s")
    )
    told = applied(str(file))
    assert (told["changed"], told["unchanged"]) == (["crm.create_contact v2"], ["client-onboarding v1"])
    assert Tool.objects.get(name="crm.create_contact", current=True).spec["execute"]["timeout"] == 6.0


def test_what_nothing_covers_is_applied_in_silence(file: Path) -> None:
    verify = CONTACT[CONTACT.index("    verify:\n") : CONTACT.index("    compensate:\n")]
    blind = CONTACT.replace(verify, "").replace("authoritative_read", "none")
    file.write_text(blind)
    gap = {
        "workflow": "client-onboarding",
        "step": "crm",
        "message": "No look shows that it happened: it stays the provider's word.",
    }
    assert gap in applied(str(file), "--check")["gaps"]
    assert checks.run_checks(databases=["default"]) == [], "nothing is current yet"
    out = io.StringIO()
    call_command("apply", str(file), stdout=out)
    assert f"gap  client-onboarding, step crm: {gap['message']}" in out.getvalue()
    warned = [one for one in checks.run_checks(databases=["default"]) if one.id == "repairs.W001"]
    assert f"client-onboarding, step crm: {gap['message']}" in [one.msg for one in warned]
    assert all(not one.is_serious() for one in warned)


def test_the_same_version_with_other_content_is_refused(file: Path) -> None:
    applied(str(file))
    file.write_text(CONTACT.replace("timeout: 5s", "timeout: 6s"))
    with pytest.raises(CommandError, match="raise the version"):
        call_command("apply", str(file))


def test_one_flaw_writes_nothing_and_fails(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(CONTACT.replace("gate: none", "gate: rehearsal"))
    with pytest.raises(CommandError, match=r"workflows\.client-onboarding\.gate: can't be asked for"):
        call_command("apply", str(file))
    with pytest.raises(SystemExit) as stopped:
        call_command("apply", str(file), "--json")
    assert stopped.value.code == 1
    (error,) = json.loads(capsys.readouterr().out)["errors"]
    assert (error["path"], error["value"], error["file"]) == (
        "workflows.client-onboarding.gate",
        "rehearsal",
        str(file),
    )
    assert not Tool.objects.filter(name="crm.create_contact").exists()
    assert not Workflow.objects.filter(name="client-onboarding").exists()


def test_no_file_or_a_missing_one_is_a_clear_error() -> None:
    with pytest.raises(CommandError, match="name one or more manifest files"):
        call_command("apply")
    with pytest.raises(CommandError, match="No such file"):
        call_command("apply", "missing.yaml")

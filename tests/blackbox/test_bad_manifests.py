"""A manifest that can't work is refused by `apply` as an operator meets it: file, path, value, and nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.blackbox import manifests
from workflows.management.commands.apply import Command
from workflows.models import Tool, Workflow

GOOD = manifests.three_steps()
TWICE = "    version: 1\n    kind: http\n"

# What is changed in a good manifest, into what; the path and the value that the message must name.
BAD = [
    ('${ args.email }", reference', '${ args.mail }", reference', "tools.crm.contact.execute.json.email", "mail"),
    ("${ input.email }", "${ steps.nobody.result.id }", "workflows.onboarding.steps.0.arguments.email", "nobody"),
    ("name: contact, tool: crm.contact", "name: contact, tool: crm.contact, after: [booking]", "steps.0", "booking"),
    ("status in [200, 201]", "status in in [200]", "tools.crm.contact.execute.acknowledged", "in in"),
    ("autonomy: auto, ", "", "tools.crm.contact.profile.autonomy", "missing"),
    ('      result: {id: "${ body.items[0].id }"}\n', "", "tools.crm.contact.compensate.url", "result.id"),
    ("tool: audience.member", "tool: audience.nobody", "workflows.onboarding.steps.1.tool", "audience.nobody"),
    ("timeout: 10s", "timeout: soon", "tools.crm.contact.execute.timeout", "soon"),
    ("kind: http", "kind: soap", "tools.crm.contact.kind", "soap"),
    (TWICE, TWICE + "    kind: smtp\n", "kind", "kind"),
    ("tools:\n", "tools: [\n", "", ""),
]


@pytest.mark.django_db(transaction=True)
def test_a_manifest_that_cannot_work_is_refused_by_name_place_and_value_and_writes_nothing(
    tmp_path: Path, settings: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MAKEGOOD_ENV", "WORLD_URL")
    settings.MAKEGOOD_ENV = ["WORLD_URL"]  # type: ignore[attr-defined]
    file = tmp_path / "outside.yaml"
    for before, after, path, value in BAD:
        assert before in GOOD, before
        file.write_text(GOOD.replace(before, after, 1))
        with pytest.raises(SystemExit) as stopped:
            Command().run_from_argv(["manage.py", "apply", str(file)])
        told = capsys.readouterr().err
        assert stopped.value.code in (1, 2)
        assert "Traceback" not in told
        assert file.name in told, told
        assert path in told, told
        assert value in told, told
        assert not Tool.objects.exists()
        assert not Workflow.objects.exclude(name="adhoc").exists()
    file.write_text(GOOD)
    Command().run_from_argv(["manage.py", "apply", str(file)])
    assert Tool.objects.count() == 3

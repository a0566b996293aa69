"""The groups of the four roles, and acts and cases that the database refuses to change or to lose."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import migrations

ROLES = ("repairer", "approver", "manager", "operator")

APPEND_ONLY = """
CREATE TRIGGER appended BEFORE UPDATE OR DELETE ON repairs_act FOR EACH ROW EXECUTE FUNCTION makegood_refuse();
CREATE TRIGGER whole BEFORE TRUNCATE ON repairs_act FOR EACH STATEMENT EXECUTE FUNCTION makegood_refuse();
CREATE TRIGGER undeletable BEFORE DELETE ON repairs_case FOR EACH ROW EXECUTE FUNCTION makegood_refuse();
CREATE TRIGGER whole BEFORE TRUNCATE ON repairs_case FOR EACH STATEMENT EXECUTE FUNCTION makegood_refuse();
"""
CHANGEABLE = """
DROP TRIGGER appended ON repairs_act;
DROP TRIGGER whole ON repairs_act;
DROP TRIGGER undeletable ON repairs_case;
DROP TRIGGER whole ON repairs_case;
"""


def create_groups(apps: Any, _editor: Any) -> None:
    group = apps.get_model("auth", "Group")
    for name in ROLES:
        group.objects.get_or_create(name=name)


class Migration(migrations.Migration):
    dependencies = (
        ("repairs", "0001_initial"),
        ("workflows", "0002_history"),
        ("auth", "0012_alter_user_first_name_max_length"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    )
    operations = (
        migrations.RunPython(create_groups, migrations.RunPython.noop),
        migrations.RunSQL(APPEND_ONLY, CHANGEABLE),
    )

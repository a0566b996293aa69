"""Two logins for trying out, since some acts need two people; made by `up` with the demo, and told at each start."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path

from django.contrib.auth.models import Group, User

FILE = "demo-logins.json"  # in the data folder, for its owner only
ROLES = {"repairer": ("repairer", "operator"), "approver": ("approver", "manager")}  # login -> its roles
PASSWORD_BYTES = 9  # 72 bits: no guessing, and still short enough to type


def demo_logins(folder: Path) -> dict[str, str]:
    """Login -> password. A login whose password was changed since keeps the changed one; the file then says the old."""
    file = folder / FILE
    known: dict[str, str] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    for login, roles in ROLES.items():
        user, new = User.objects.get_or_create(username=login, defaults={"is_staff": True})
        if new or login not in known:
            known[login] = secrets.token_urlsafe(PASSWORD_BYTES)
            user.set_password(known[login])
            user.save(update_fields=["password"])
            user.groups.set([Group.objects.get_or_create(name=role)[0] for role in roles])
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        json.dump(known, stream)
    return known

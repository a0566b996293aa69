"""What differs between installations is read from the environment, and the table in the settings names all of it."""

from __future__ import annotations

import re
from pathlib import Path

from config import settings

ROOT = Path(settings.__file__).parent.parent
NAME = re.compile(r"""f?"(MAKEGOOD_[A-Z_]+(?:\{name\}(?:_FILE)?)?|DATABASE_URL|ALLOWED_HOSTS|FOUR_EYES)\"""")
OF_OURS = {"MAKEGOOD_KEY", "MAKEGOOD_STOPPING", "MAKEGOOD_UP"}  # from `up` to its children, and nobody else
SECRET = {"MAKEGOOD_SECRET_{name}", "MAKEGOOD_SECRET_{name}_FILE"}


def test_every_variable_that_is_read_is_in_the_table_of_settings_and_no_other() -> None:
    files = [file for folder in ("config", "workflows", "repairs") for file in (ROOT / folder).rglob("*.py")]
    read = {name for file in files for name in NAME.findall(file.read_text(encoding="utf-8"))} - OF_OURS
    assert read >= SECRET
    table = set(re.findall(r"^\| ([A-Z_]+(?:<NAME>)?) \|", settings.__doc__ or "", re.M))
    assert table == {*(read - SECRET), "MAKEGOOD_SECRET_<NAME>"}

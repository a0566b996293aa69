"""The peers' own Python in the data folder, with what requirements.txt names; nothing of it goes into .venv."""

from __future__ import annotations

import hashlib
import importlib.util
import subprocess
import sys
from pathlib import Path

from config.house import folder

REQUIREMENTS = Path(__file__).parent.parent / "requirements.txt"


def python() -> Path | None:
    """Its interpreter, made and filled if need be; None, with a word about it, where the packages can't be had."""
    home = folder.data_folder() / "bench-venv"
    found, stamp = home / "bin" / "python", home / "stamp"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()
    if found.exists() and stamp.exists() and stamp.read_text() == wanted:
        return found
    print(f"Making {home.name} for the peers ...", flush=True)
    for words in ([sys.executable, "-m", "venv", "--clear", str(home)], [*_installer(found), "-r", str(REQUIREMENTS)]):
        if subprocess.run(words, check=False).returncode:
            print("The peers could not be installed; what follows is measured without them.", flush=True)
            return None
    stamp.write_text(wanted)
    return found


def _installer(python: Path) -> list[str]:
    if importlib.util.find_spec("uv"):
        return [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", str(python)]
    return [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]

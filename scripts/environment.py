"""Brings .venv to what a lock file says, for the Makefile: `python3 scripts/environment.py requirements.txt`.

Runs under the system's Python, however old, and names what is missing. A second run with the same lock does nothing.
Only `.venv/bin/python -m ...` is used afterwards: scripts in .venv/bin break in long paths and paths with blanks.
"""

import hashlib
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

LEAST = (3, 11)
HOME = Path(".venv")
HOLDS = {"requirements-dev.txt": ["requirements.txt"]}  # made with the other as its constraint: holds all of it
PYTHON = str(HOME / "bin" / "python")


def main(lock: str) -> int:
    if sys.version_info < LEAST:
        return refuse("Python 3.11 or newer is needed; this is " + sys.version.split()[0], "make PYTHON=python3.11 ...")
    if runs() and up_to_date(lock):
        return 0
    if not runs():
        if importlib.util.find_spec("ensurepip") is None:
            return refuse("Python's venv is missing.", "apt install python3-venv")
        say("Making .venv")
        if subprocess.call([sys.executable, "-m", "venv", "--clear", str(HOME)]):
            return refuse("The virtual environment in .venv could not be made.", "apt install python3-venv")
    say("Installing " + lock + " into .venv")
    if subprocess.call([*installer(), "--require-hashes", "-r", lock]):
        return refuse("The packages of " + lock + " could not be installed.", "mend what it says above; run it again")
    for done in [lock, *HOLDS.get(lock, [])]:
        stamp(done).write_text(digest(done))
    return 0


def up_to_date(lock: str) -> bool:
    return stamp(lock).exists() and stamp(lock).read_text() == digest(lock)


def stamp(lock: str) -> Path:
    return HOME / (lock + ".stamp")


def digest(lock: str) -> str:
    return hashlib.sha256(Path(lock).read_bytes() + sys.version.encode()).hexdigest()


def installer() -> "list[str]":
    """uv where it is at hand, since it is quicker; pip, which every Python brings, otherwise."""
    if shutil.which("uv"):
        return ["uv", "pip", "install", "--quiet", "--python", PYTHON]
    return [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]


def runs() -> bool:
    """Whether .venv has a Python of this very version; after an upgrade of the system it has not."""
    try:
        said = subprocess.check_output([PYTHON, "-c", "import pip, sys; print(sys.version)"], stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return False
    return said.decode().strip() == sys.version


def say(line: str) -> None:
    sys.stdout.write(line + " ...\n")
    sys.stdout.flush()


def refuse(problem: str, way_out: str) -> int:
    sys.stderr.write(problem + "\n  way out: " + way_out + "\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

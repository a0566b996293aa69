"""The data folder: where it is, that it can be written, and the secrets made once in it (settings and the house)."""

from __future__ import annotations

import errno
import os
import secrets
from pathlib import Path

from config.house.errors import SetupError

ROOT = Path(__file__).resolve().parent.parent.parent
SECRET_BYTES = 48  # 384 bits: past any guessing, and what Django's own check asks for


def data_folder() -> Path:
    """The folder that MAKEGOOD_DATA names, `.data` beside manage.py if unset; made if missing, for its owner only."""
    named = os.environ.get("MAKEGOOD_DATA", "")
    folder = Path(named).expanduser() if named else ROOT / ".data"
    folder = folder if folder.is_absolute() else Path.cwd() / folder
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _no_folder(folder, error) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _no_folder(folder, PermissionError(errno.EACCES, "this user may not write there"))
    return folder


def secret(name: str, folder: Path | None = None) -> str:
    """The secret of that name; the first call makes it, and of two first calls at once both get the same."""
    file = (folder or data_folder()) / name
    try:
        if not file.exists():
            _make(file)
        value = file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise _no_folder(file, error) from error
    if len(value) < SECRET_BYTES:
        raise SetupError(
            f"The secret in {file} is damaged (only {len(value)} characters).",
            setting="MAKEGOOD_DATA",
            value=str(file.parent),
            way_out="Put the file back from a backup; effects already sent were named with it.",
        )
    return value


def write_into(folder: Path) -> None:
    """Writes a file there and removes it: the one sure way to know that it can be done."""
    probe = folder / f".probe-{os.getpid()}"
    try:
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise _no_folder(folder, error) from error


def _make(file: Path) -> None:
    """Written beside and linked into place: a reader never sees half a secret, and the first writer wins."""
    draft = file.with_name(f".{file.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as stream:
        stream.write(secrets.token_urlsafe(SECRET_BYTES) + "\n")
        stream.flush()
        os.fsync(stream.fileno())
    try:
        os.link(draft, file)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def _no_folder(path: Path, error: Exception) -> SetupError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return SetupError(
        f"The data folder can't be used: {path}: {reason}.",
        setting="MAKEGOOD_DATA",
        value=os.environ.get("MAKEGOOD_DATA", "") or f"{ROOT / '.data'} (the default)",
        way_out="Name a folder that this user may write in MAKEGOOD_DATA, or give this user the folder.",
    )

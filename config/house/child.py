"""Holds one child of `up`: `python -m config.house.child RECORD GRACE -- COMMAND...`; knows only the standard library.

1. Starts the command in a session of its own and writes both process numbers with their beginnings into RECORD.
2. When standard input closes, since `up` ended or was killed, or on SIGTERM: leaves the word for `stopping.asked`, and
   asks the command itself to end, not its whole group, which would hang a qcluster.
3. After GRACE seconds, and in any case once the command has ended, kills what is left of the group.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

from config.house import processes, stopping


def main(arguments: list[str]) -> int:
    record, grace = Path(arguments[0]), float(arguments[1])
    assert arguments[2] == "--"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    word = record.with_suffix(".stopping")
    word.unlink(missing_ok=True)
    command = subprocess.Popen(
        arguments[3:], stdin=subprocess.DEVNULL, start_new_session=True, env={**os.environ, stopping.NAME: str(word)}
    )
    _write(record, {"holder": _identity(os.getpid()), "command": _identity(command.pid)})

    def end() -> None:
        word.touch()
        command.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            command.wait(grace)
        _kill_group(command.pid)

    def watch() -> None:
        while os.read(0, 1024):
            pass
        end()

    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=end, daemon=True).start())
    threading.Thread(target=watch, daemon=True).start()
    code = command.wait()
    _kill_group(command.pid)
    word.unlink(missing_ok=True)
    record.unlink(missing_ok=True)
    return code if code >= 0 else 128 - code


def _kill_group(leader: int) -> None:
    # Right after its leader ended: either members still hold the group's number, or nobody has it yet.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _identity(pid: int) -> list[int | str]:
    return [pid, processes.started(pid)]


def _write(record: Path, content: dict[str, list[int | str]]) -> None:
    draft = record.with_suffix(".draft")
    draft.write_text(json.dumps(content), encoding="utf-8")
    draft.rename(record)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

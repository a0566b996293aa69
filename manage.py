#!/usr/bin/env python3
"""The door for every command: sees to it that a database is there, then hands over to Django."""

from __future__ import annotations

import os
import sys

from config.house import door
from config.house.errors import SetupError


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.management import execute_from_command_line

    try:
        with door.opened(sys.argv):
            execute_from_command_line(sys.argv)
    except SetupError as error:
        return door.refuse(error, sys.argv)
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

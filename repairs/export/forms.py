"""The two forms of a file. Each says which it is, and whether it was cut, in its last line."""

from __future__ import annotations

import csv
import datetime as dt
import json
from collections.abc import Iterator
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

from repairs.export.rows import Table, Told, read
from repairs.words.cells import cell

FORM = "For spreadsheets: an apostrophe stands before what could be a formula. Times are in UTC."
BOM = "\ufeff"  # or the spreadsheet takes it for another encoding


class _Lines:
    """Where the csv writer writes: it gives back the line."""

    def write(self, line: str) -> str:
        return line


def for_spreadsheets(table: Table) -> Iterator[bytes]:
    """CSV in which no text can be a formula. The last row, one cell, says which form it is and whether it was cut."""
    writer = csv.writer(_Lines(), quoting=csv.QUOTE_NONNUMERIC)
    told = Told()
    yield (BOM + writer.writerow([cell(name) for name in table.columns])).encode()
    for values in read(table, told):
        yield writer.writerow([cell(value) for value in values]).encode()
    yield writer.writerow([f"End: {end_of(told)} {FORM}"]).encode()


def raw(table: Table) -> Iterator[bytes]:
    """JSON Lines: each row's values, unchanged. The last line, `{"_end": …}`, says whether it was cut."""
    told = Told()
    for values in read(table, told):
        yield line(dict(zip(table.columns, values, strict=True)))
    yield line({"_end": {"form": "raw", "rows": told.rows, "cut": told.cut}})


def line(data: dict[str, Any]) -> bytes:
    return (json.dumps(data, cls=Exact, ensure_ascii=True) + "\n").encode()


class Exact(DjangoJSONEncoder):
    """Times to the microsecond: what is compared with the rows must not be rounded."""

    def default(self, value: Any) -> Any:
        if isinstance(value, dt.datetime):
            return value.astimezone(dt.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        return super().default(value)


def end_of(told: Told) -> str:
    if told.cut:
        return f"the first {told.rows:,} rows, there are more; narrow the list for the others."
    return f"{told.rows:,} row{'' if told.rows == 1 else 's'}, all there are."

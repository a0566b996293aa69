"""Collects one answer within its limits, and unpacks it without trusting its size."""

from __future__ import annotations

import zlib

from workflows.tools.wire.messages import Answer, Lost

# More than any answer that says whether one act was done; what is larger is a mistake or an attack.
MOST_RECEIVED = 1_048_576
# Two megabytes of zeros pack a gigabyte.
MOST_UNPACKED = 4 * 1_048_576


class Reading:
    """The answer as far as it was read."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.status = 0
        self.headers: dict[str, str] = {}
        self.pieces: list[bytes] = []
        self.received = 0

    def count(self, length: int) -> None:
        self.received += length
        if self.received > MOST_RECEIVED:
            raise Lost(f"the answer is larger than {MOST_RECEIVED} bytes", self.partial(), too_large=True)

    def begin(self, status: int, headers: list[tuple[str, str]]) -> None:
        self.status = status
        for name, value in headers:
            name = name.lower()
            self.headers[name] = f"{self.headers[name]}, {value}" if name in self.headers else value

    def add(self, data: bytes) -> None:
        self.pieces.append(data)

    def answer(self) -> Answer:
        return self._answer(self._unpacked(b"".join(self.pieces)))

    def partial(self) -> Answer | None:
        return self._answer(b"".join(self.pieces)) if self.status else None

    def _answer(self, body: bytes) -> Answer:
        return Answer(status=self.status, headers=self.headers, body=body, received=self.received, address=self.address)

    def _unpacked(self, body: bytes) -> bytes:
        encoding = self.headers.get("content-encoding", "identity").strip().lower()
        if encoding in ("identity", "") or not body:
            return body
        if encoding not in ("gzip", "x-gzip"):
            raise Lost(f"the answer is encoded as {encoding}, which nobody asked for", self.partial())
        unpacker = zlib.decompressobj(wbits=31)
        try:
            data = unpacker.decompress(body, MOST_UNPACKED + 1)
        except zlib.error as error:
            raise Lost(f"the answer can't be unpacked: {error}", self.partial()) from None
        if len(data) > MOST_UNPACKED:
            message = f"the answer unpacks to more than {MOST_UNPACKED} bytes"
            raise Lost(message, self.partial(), too_large=True)
        if not unpacker.eof or unpacker.unused_data:
            raise Lost("the packed answer is cut or followed by something else", self.partial())
        return data

"""Takes files from forms into memory up to a bound, and no further: what is too large is read past, and said to be."""

from __future__ import annotations

import io
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadedfile import InMemoryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler

MOST_OF_A_FILE = 1_048_576  # bytes: a picture of a screen, a page of a statement
MOST_OF_A_FORM = 32 * MOST_OF_A_FILE  # up to here what is too large is read past; nobody reads on for ever


class Bounded(FileUploadHandler):
    """`size` says how large the file was; of one that is too large only the beginning is there."""

    def handle_raw_input(self, input_data: Any, META: Any, content_length: int, *_: Any, **__: Any) -> None:  # noqa: N803
        if content_length > MOST_OF_A_FORM:
            raise RequestDataTooBig(f"A form has at most {MOST_OF_A_FORM:,} bytes.")

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        self.kept = io.BytesIO()

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        room = MOST_OF_A_FILE - self.kept.tell()
        if room > 0:
            self.kept.write(raw_data[:room])

    def file_complete(self, file_size: int) -> InMemoryUploadedFile:
        self.kept.seek(0)
        return InMemoryUploadedFile(
            self.kept, self.field_name, self.file_name, self.content_type, file_size, self.charset
        )

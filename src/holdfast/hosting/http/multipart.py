"""Extraction of a file from a multipart form that was spooled to disk, in constant memory."""

from pathlib import Path
from typing import IO, Final

from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header

from holdfast.hosting.http.errors import ApiError

__all__ = ["extract_file"]

CHUNK: Final = 1024 * 1024
LONGEST_HEADERS: Final = 8192


class FileExtractor:
    """Parser callbacks that write the first part with a given field name to a file, and skip all others."""

    def __init__(self, field: str, target: IO[bytes]) -> None:
        self._field = field.encode()
        self._target = target
        self._headers: dict[bytes, bytes] = {}
        self._name = b""
        self._value = b""
        self._wanted = False
        self.file_name: str | None = None

    def begin(self) -> None:
        """Start a part."""
        self._headers = {}
        self._wanted = False

    def header_name(self, data: bytes, start: int, end: int) -> None:
        """Append to the name of a header."""
        self._name = self._bounded(self._name + data[start:end])

    def header_value(self, data: bytes, start: int, end: int) -> None:
        """Append to the value of a header."""
        self._value = self._bounded(self._value + data[start:end])

    def header_end(self) -> None:
        """Store a complete header."""
        self._headers[self._name.lower()] = self._value
        self._name = self._value = b""

    def headers_end(self) -> None:
        """Check whether the part is the requested file."""
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        if options.get(b"name") == self._field and self.file_name is None:
            self._wanted = True
            self.file_name = options.get(b"filename", b"").decode("utf-8", "replace")

    def data(self, data: bytes, start: int, end: int) -> None:
        """Write a chunk of the file."""
        if self._wanted:
            self._target.write(data[start:end])

    @staticmethod
    def _bounded(text: bytes) -> bytes:
        if len(text) > LONGEST_HEADERS:
            raise ApiError(400, "the headers of a part of the form are too long")
        return text


def extract_file(source: Path, content_type: str, field: str, target: Path) -> str:
    """Write the file in a form field to a new file, and return the client's file name."""
    _, options = parse_options_header(content_type)
    boundary = options.get(b"boundary")
    if not boundary:
        raise ApiError(400, "the form has no boundary")
    with source.open("rb") as sent, target.open("xb") as file:
        extractor = FileExtractor(field, file)
        try:
            parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": extractor.begin,
                    "on_header_field": extractor.header_name,
                    "on_header_value": extractor.header_value,
                    "on_header_end": extractor.header_end,
                    "on_headers_finished": extractor.headers_end,
                    "on_part_data": extractor.data,
                },
            )
            while chunk := sent.read(CHUNK):
                parser.write(chunk)
            parser.finalize()
        except FormParserError as error:
            raise ApiError(400, "the form cannot be read") from error
    if extractor.file_name is None:
        raise ApiError(400, f"the form has no file {field}")
    return extractor.file_name

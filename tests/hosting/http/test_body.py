"""Request bodies: chunks, compression and limits."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from starlette.requests import Request
from starlette.types import Message

from holdfast.hosting.http.body import read_body, spool_body
from holdfast.hosting.http.errors import ApiError


def sent(*pieces: bytes, **headers: str) -> Request:
    """Make a request whose body arrives in pieces; after an empty last piece the client is gone."""
    messages = iter(pieces)

    async def receive() -> Message:
        piece = next(messages)
        if piece == b"gone":
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": piece, "more_body": piece != pieces[-1]}

    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "POST", "headers": raw}, receive)


def test_pieces_are_joined_and_decompressed() -> None:
    """A body that arrives in two pieces is joined, and decompressed if it is gzip."""
    packed = gzip.compress(b"hello")
    assert anyio.run(read_body, sent(b"he", b"llo"), 5) == b"hello"
    assert anyio.run(read_body, sent(packed[:7], packed[7:], content_encoding="gzip"), 5) == b"hello"


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (sent(b"hel", b"lo!"), 413),
        (sent(content_length="6"), 413),
        (sent(gzip.compress(b"hello!"), content_encoding="gzip"), 413),
        (sent(b"no gzip", content_encoding="gzip"), 400),
        (sent(gzip.compress(b"x")[:-1], content_encoding="gzip"), 400),
        (sent(b"he", b"gone", b""), 400),
        (sent(b"x", content_encoding="br"), 415),
    ],
    ids=["too large", "declared too large", "too large inside", "no gzip", "truncated", "gone", "unknown"],
)
def test_a_body_that_cannot_be_read_is_refused(request_: Request, status: int) -> None:
    """Large, damaged and incomplete bodies and unknown encodings are refused with their own statuses."""
    with pytest.raises(ApiError) as excinfo:
        anyio.run(read_body, request_, 5)
    assert excinfo.value.status == status


def test_an_upload_is_a_file_until_it_is_served(tmp_path: Path) -> None:
    """An upload is stored in a file, whose folder is cleaned up afterwards."""

    @contextmanager
    def folder() -> Iterator[Path]:
        (tmp_path / "upload").mkdir()
        yield tmp_path / "upload"
        (tmp_path / "upload/body").unlink()

    async def run() -> bytes:
        async with spool_body(sent(b"he", b"llo"), 5, folder) as upload:
            return upload.path.read_bytes()

    assert anyio.run(run) == b"hello"
    assert list((tmp_path / "upload").iterdir()) == []

"""Strict base64: the standard alphabet, padded; line breaks are ignored."""

import binascii
import re
from typing import Final

from holdfast.hosting.http.errors import ApiError

__all__ = ["decode"]

LINE_ENDS: Final = b"\r\n"
FOREIGN: Final = re.compile(rb"[^A-Za-z0-9+/\r\n]")


def decode(text: str) -> bytes:
    """Decode a text; raise an error with the offset of the first invalid byte."""
    try:
        # The common case: one line, valid.
        return binascii.a2b_base64(text, strict_mode=True)
    except ValueError:
        data = text.encode(errors="surrogatepass")
    wrong = first_wrong(data)
    if wrong is not None:
        raise ApiError(422, f"illegal base64 data at input byte {wrong}")
    return binascii.a2b_base64(data)


def first_wrong(data: bytes) -> int | None:
    """Return the offset of the first invalid byte, counted as Gitea does."""
    match = FOREIGN.search(data)
    end = len(data) if match is None else match.start()
    left = (end - data.count(b"\n", 0, end) - data.count(b"\r", 0, end)) % 4
    if match is None:
        return None if left == 0 else end - left
    if data[end : end + 1] != b"=" or left < 2:
        return end
    after = skip(data, end + 1)
    if left == 2:
        if after == len(data):
            return after
        if data[after : after + 1] != b"=":
            return after - 1
        after = skip(data, after + 1)
    return None if after == len(data) else after


def skip(data: bytes, start: int) -> int:
    """Return the offset after the line breaks at `start`."""
    while start < len(data) and data[start] in LINE_ENDS:
        start += 1
    return start

"""Media types by the first bytes of a file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.file_responses.media_types import media_type

RUN_BY_BROWSERS = ("html", "xml", "javascript", "ecmascript", "flash", "java")


@pytest.mark.parametrize(
    ("beginning", "kind"),
    [
        (b"", "text/plain; charset=utf-8"),
        (b"plain", "text/plain; charset=utf-8"),
        ("näme".encode(), "text/plain; charset=utf-8"),
        ("näme".encode("latin-1"), "text/plain; charset=iso-8859-1"),
        ("“näme”".encode("cp1252"), "text/plain; charset=windows-1252"),
        (b"\xef\xbb\xbfbom", "text/plain; charset=utf-8"),
        ("bom".encode("utf-16"), "text/plain; charset=utf-16le"),
        (b"\xfe\xff\x00b", "text/plain; charset=utf-16be"),
        (b"<html><body>", "text/plain; charset=utf-8"),
        (b"a" * 1023 + "ä".encode(), "text/plain; charset=utf-8"),
        (b"\0", "application/octet-stream"),
        (b"\x7fELF\x02\x01\x01\x00", "application/octet-stream"),
        (b"PK\x03\x04\x14\x00", "application/octet-stream"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"),
        (b"GIF89a\x01\x00", "image/gif"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"\0\0\1\0\1\0", "image/x-icon"),
        (b"BM" + b"\0" * 12 + b"\x28\0\0\0", "image/bmp"),
        (b"BM is short for benchmark", "text/plain; charset=utf-8"),
        (b"<?xml version='1.0'?>\n<!-- a -->\n<svg width='1'/>", "image/svg+xml"),
        (b"<svgfoo>", "text/plain; charset=utf-8"),
        (b"%PDF-1.7", "application/pdf"),
        (b"RIFF\0\0\0\0WAVEfmt ", "audio/wave"),
        (b"ID3\x04", "audio/mpeg"),
        (b"OggS\x00\x02", "audio/ogg"),
        (b"\0\0\0\x20ftypisom", "video/mp4"),
        (b"\0\0\0\x20ftypavif", "image/avif"),
        (b"\x1a\x45\xdf\xa3", "video/webm"),
    ],
)
def test_the_first_bytes_decide_the_media_type(beginning: bytes, kind: str) -> None:
    """Images, audio, video and PDF are recognized by their signatures, and text by its encoding."""
    assert media_type(beginning) == kind


@given(st.binary(max_size=1100) | st.text(max_size=300).map(str.encode))
def test_no_file_is_served_as_html(beginning: bytes) -> None:
    """No content has a media type that browsers run as a script or page, except SVG images."""
    kind = media_type(beginning)
    assert kind.startswith(
        ("text/plain; charset=", "image/", "audio/", "video/", "application/octet", "application/pdf")
    )
    assert not any(word in kind.replace("image/svg+xml", "") for word in RUN_BY_BROWSERS)

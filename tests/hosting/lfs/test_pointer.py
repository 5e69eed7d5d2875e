"""Parsing and formatting of LFS pointers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.lfs.pointer import MOST_BYTES, LfsPointer

OID = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
TEXT = f"version https://git-lfs.github.com/spec/v1\noid sha256:{OID}\nsize 12345\n".encode()


def test_a_pointer_is_written_as_git_lfs_does() -> None:
    """The text of a pointer is parsed to its id and size and formatted to the same text."""
    assert LfsPointer.parse(TEXT) == LfsPointer(OID, 12345)
    assert LfsPointer(OID, 12345).format() == TEXT


@given(oid=st.text("0123456789abcdef", min_size=64, max_size=64), size=st.integers(0, 2**63 - 1))
def test_every_pointer_round_trips(oid: str, size: int) -> None:
    """The pointer of any object id and size is parsed as it was formatted."""
    assert LfsPointer.parse(LfsPointer(oid, size).format()) == LfsPointer(oid, size)


@given(st.binary(max_size=2000))
def test_other_files_are_not_pointers(content: bytes) -> None:
    """Random bytes are no pointer, and those after the first line of one raise no error."""
    assert LfsPointer.parse(content) is None
    LfsPointer.parse(TEXT[:43] + content)


@pytest.mark.parametrize("content", [TEXT[:-1], TEXT + b"more\n", TEXT + b"x" * (MOST_BYTES - len(TEXT))])
def test_a_missing_last_line_break_and_further_lines_are_allowed(content: bytes) -> None:
    """A pointer without a final line break, or with more lines up to the size limit, is parsed."""
    assert LfsPointer.parse(content) == LfsPointer(OID, 12345)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        TEXT[:60],
        TEXT + b"x" * (MOST_BYTES + 1 - len(TEXT)),
        TEXT.replace(b"v1", b"v2"),
        TEXT.replace(b"4d7a", b"4D7A"),
        TEXT.replace(b"sha256", b"sha512"),
        TEXT.replace(b"12345", b"-1"),
        TEXT.replace(b"12345", b"+1"),
        TEXT.replace(b"12345", b"1_0"),
        TEXT.replace(b"12345", b"9223372036854775808"),
        TEXT.replace(b"12345", "\N{ARABIC-INDIC DIGIT ONE}".encode()),
        TEXT.replace(b"\n", b"\r\n"),
        b"\n" + TEXT,
    ],
)
def test_a_malformed_pointer_is_not_a_pointer(content: bytes) -> None:
    """A pointer that is too long, or has another version, hash, size or line ending, is not parsed."""
    assert LfsPointer.parse(content) is None

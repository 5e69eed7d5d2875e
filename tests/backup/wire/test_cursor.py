"""Varints are read as protobuf reads them, at any offset and with any padding."""

from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.backup.schema import Frame
from holdfast.backup.wire.faults import BAD_TEXT
from tests.backup.wire.core import Core
from tests.backup.wire.encoding import delimited, number, tag, varint

DATE_SENT = 3
UNKNOWN = 9999


@given(
    value=st.one_of(st.integers(0, (1 << 64) - 1), st.integers(0, 64).map(lambda bits: (1 << bits) - 1)),
    size=st.integers(1, 10),
    more=st.integers(0, 10),
)
@example(value=1_700_000_000_000, size=1, more=0)
@example(value=0, size=8, more=0)
@example(value=0, size=10, more=0)
@example(value=(1 << 56) - 1, size=8, more=9)
@example(value=(1 << 64) - 1, size=10, more=0)
def test_a_number_of_any_size_at_any_distance_from_the_end(core: Core, value: int, size: int, more: int) -> None:
    """A varint is read at any distance from the end, and an overlong one is not canonical."""
    written = varint(value, size=size)
    padding = delimited(UNKNOWN, b"x" * more) if more else b""
    raw = delimited(4, tag(DATE_SENT, 0) + written) + padding
    item = Frame.FromString(raw).chatItem
    assert item.dateSent == value
    collected = core.collect.collect(raw, core.collect.Selection(["ChatItem.dateSent"]))
    assert [entry[2] for entry in collected] == [value]
    alone = delimited(4, tag(DATE_SENT, 0) + written)
    assert core.walk.walk_record(alone).canonical == (len(written) == len(varint(value)) and value != 0)


@given(value=st.integers(0, (1 << 64) - 1), missing=st.integers(1, 10), behind=st.binary(max_size=12))
def test_a_number_never_reaches_beyond_the_end_of_its_message(
    core: Core, value: int, missing: int, behind: bytes
) -> None:
    """Bytes after the message are not read as the rest of a truncated number."""
    written = varint(value)
    cut = delimited(4, tag(DATE_SENT, 0) + written[:-missing])
    raw = cut + delimited(UNKNOWN, behind) + number(UNKNOWN, value)
    assert core.walk.walk_record(raw).fault == core.walk.walk_record(cut).fault != 0


@given(
    text=st.one_of(st.text(max_size=20).map(str.encode), st.binary(max_size=20)),
    before=st.integers(0, 17),
    behind=st.integers(0, 12),
)
@example(text="é".encode()[:1], before=7, behind=0)
@example(text="é".encode()[:1], before=7, behind=9)
@example(text="日".encode()[:2], before=5, behind=0)
@example(text=b"\xc3aaaaaaaa\xa9", before=7, behind=0)
@example(text="𝄞".encode(), before=6, behind=0)
@example(text=b"\xed\xa0\x80", before=6, behind=3)
def test_a_text_of_any_size_at_any_distance_from_the_end(
    core: Core, text: bytes, before: int, behind: int
) -> None:
    """A text of any length is checked for UTF-8 without the bytes after it."""
    body = b"a" * before + text
    raw = delimited(4, delimited(11, delimited(2, delimited(1, body))))
    raw += delimited(UNKNOWN, b"\x80" * behind) if behind else b""
    valid = body.decode(errors="replace").encode() == body
    assert core.walk.walk_record(raw).fault == (0 if valid else BAD_TEXT)

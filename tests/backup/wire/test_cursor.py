"""Numbers are read as protobuf reads them, however they are written and wherever they stand."""

from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.backup.schema import Frame
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
    """Also padded ones, which are the same number but not as protobuf would write it."""
    written = varint(value, size=size)
    behind = delimited(UNKNOWN, b"x" * more) if more else b""
    raw = delimited(4, tag(DATE_SENT, 0) + written) + behind
    item = Frame.FromString(raw).chatItem
    assert item.dateSent == value
    found = core.collect.collect(raw, core.collect.Selection(["ChatItem.dateSent"]))
    assert [place[2] for place in found] == [value]
    alone = delimited(4, tag(DATE_SENT, 0) + written)
    assert core.walk.look(alone).canonical == (len(written) == len(varint(value)) and value != 0)


@given(value=st.integers(0, (1 << 64) - 1), missing=st.integers(1, 10), behind=st.binary(max_size=12))
def test_a_number_never_reaches_beyond_the_end_of_its_message(
    core: Core, value: int, missing: int, behind: bytes
) -> None:
    """What stands behind the message is not taken for the rest of the number."""
    written = varint(value)
    cut = delimited(4, tag(DATE_SENT, 0) + written[:-missing])
    raw = cut + delimited(UNKNOWN, behind) + number(UNKNOWN, value)
    assert core.walk.look(raw).fault == core.walk.look(cut).fault != 0

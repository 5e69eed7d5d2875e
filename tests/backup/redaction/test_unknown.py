"""Of unknown fields only the structure is kept."""

import pytest

from holdfast.backup.redaction.unknown import clear_field
from tests.backup.wire.encoding import delimited, fixed32, fixed64, group, number, varint


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (number(9, 1), number(9, 0)),
        (number(9, 300), number(9, 128)),
        (number(9, (1 << 64) - 1), number(9, 1 << 63)),
        (fixed32(9, b"abcd"), fixed32(9, bytes(4))),
        (fixed64(9, b"abcdefgh"), fixed64(9, bytes(8))),
        (delimited(9, b""), delimited(9, b"")),
        (delimited(9, b"secret" * 50), delimited(9, bytes(300))),
        (group(9, group(1, delimited(2, b"secret")) + number(3, 7)), None),
        (varint(9 << 3 | 2, size=3) + varint(6, size=4) + b"secret", None),
    ],
)
def test_values_are_emptied_and_tags_and_lengths_stay(field: bytes, expected: bytes | None) -> None:
    """Values are zeroed also inside groups and where a varint has more bytes than it needs."""
    new = clear_field(field)
    assert len(new) == len(field)
    assert b"secret" not in new
    if expected is not None:
        assert new == expected
    assert clear_field(new) == new

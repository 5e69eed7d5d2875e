"""Receipts are encoded compactly, and decoded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.backup.archives.item_rows import REASONS, STATUSES
from holdfast.backup.archives.receipts import recipient_bytes, unpack_receipts
from holdfast.backup.errors import ArchiveError
from tests.backup.wire.core import Core

TIMES = st.integers(0, (1 << 63) - 1)
KNOWN = [n for n, status in enumerate(STATUSES) if status]


@given(
    receipts=st.lists(st.tuples(st.integers(0, (1 << 63) - 1), TIMES, st.sampled_from(KNOWN), st.booleans())),
    sent=TIMES,
)
def test_what_was_packed_is_read(core: Core, receipts: list[tuple[int, int, int, bool]], sent: int) -> None:
    """Receipts are unpacked as they were packed, with any recipient and any time before or after sending."""
    packed = core.item_rows.pack_receipts(
        [
            (recipient, time, status | (16 if sealed and 4 <= status <= 7 else 0))
            for recipient, time, status, sealed in receipts
        ],
        sent,
    )
    assert [receipt[:4] for receipt in unpack_receipts(packed, sent)] == [
        (recipient, STATUSES[status], time, sealed if 4 <= status <= 7 else None)
        for recipient, time, status, sealed in receipts
    ]
    assert all(recipient_bytes(recipient) in packed for recipient, *_rest in receipts)


@pytest.mark.parametrize("reason", range(len(REASONS)))
def test_a_failure_has_a_reason(core: Core, reason: int) -> None:
    """A failed receipt keeps its reason, and a receipt of another status has none."""
    failed, sent = STATUSES.index("failed"), STATUSES.index("sent")
    packed = core.item_rows.pack_receipts([(7, 1500, failed | reason << 5), (8, 900, sent)], 1000)
    assert unpack_receipts(packed, 1000) == [
        (7, "failed", 1500, None, REASONS[reason]),
        (8, "sent", 900, False, None),
    ]


@pytest.mark.parametrize(
    "packed", [b"\x80", b"\x07", b"\x07\x04", b"\x07\x04\xff", b"\x07\x0f\x00", b"\x07\xe9\x00"]
)
def test_bytes_that_are_no_receipts_are_damage(packed: bytes) -> None:
    """Truncated receipts and those with an unknown status or reason are reported as damage."""
    with pytest.raises(ArchiveError, match="damaged"):
        unpack_receipts(packed, 1000)

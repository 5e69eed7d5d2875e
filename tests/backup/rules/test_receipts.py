"""A receipt is told from bytes that are none."""

import pytest

from holdfast.backup.rules.receipts import is_point, is_receipt
from tests.backup.rules.example_backup import made_up_receipt

# From RFC 9496, appendix A: multiples of the generator, and encodings that must be refused.
GOOD = (
    "00" * 32,
    "e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76",
    "6a493210f7499cd17fecb510ae0cea23a110e8d5b901f8acadd3095c73a3b919",
    "94741f5d5d52755ece4f23f044ee27d5d1ea1e2bd196b462166b16152a9d0259",
)
BAD = (
    "00ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "26948d35ca62e643e26a83177332e6b6afeb9d08e4268b650f1f5bbd8d81d371",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
)


@pytest.mark.parametrize("text", GOOD)
def test_points_are_taken(text: str) -> None:
    """Published ones."""
    assert is_point(bytes.fromhex(text))


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_point_is_refused(text: str) -> None:
    """Numbers too large, odd ones, and those that lie on no curve."""
    assert not is_point(bytes.fromhex(text))


def test_a_receipt_has_one_shape() -> None:
    """Nothing missing, a zero in front, and points that are points; what comes behind it nobody reads."""
    good = made_up_receipt()
    assert is_receipt(good)
    assert is_receipt(good + b"\x01")
    for bad in (b"", good[:-1], b"\x01" + good[1:], good[:1] + b"\x01" + good[2:]):
        assert not is_receipt(bad)
    huge = bytes(161) + b"\xff" * 8 + bytes(200)
    assert not is_receipt(huge)

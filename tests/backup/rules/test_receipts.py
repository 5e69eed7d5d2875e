"""Receipts are distinguished from other bytes."""

import pytest

from holdfast.backup.rules.receipts import PRIME, is_point, is_receipt
from tests.backup.rules.example_backup import made_up_receipt

# From RFC 9496, appendix A: multiples of the generator, and encodings that must be refused.
GOOD = (
    "00" * 32,
    "e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76",
    "6a493210f7499cd17fecb510ae0cea23a110e8d5b901f8acadd3095c73a3b919",
    "94741f5d5d52755ece4f23f044ee27d5d1ea1e2bd196b462166b16152a9d0259",
    "da80862773358b466ffadfe0b3293ab3d9fd53c5ea6c955358f568322daf6a57",
    "e882b131016b52c1d3337080187cf768423efccbb517bb495ab812c4160ff44e",
    "f64746d3c92b13050ed8d80236a7f0007c3b3f962f5ba793d19a601ebb1df403",
    "44f53520926ec81fbd5a387845beb7df85a96a24ece18738bdcfa6a7822a176d",
    "903293d8f2287ebe10e2374dc1a53e0bc887e592699f02d077d5263cdd55601c",
    "02622ace8f7303a31cafc63f8fc48fdc16e1c8c8d234b2f0d6685282a9076031",
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
    """The published encodings of points are accepted."""
    assert is_point(bytes.fromhex(text))


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_point_is_refused(text: str) -> None:
    """Encodings that are too large, odd, or not on the curve are refused."""
    assert is_point(bytes.fromhex(text)) is False


@pytest.mark.parametrize("text", GOOD[1:])
def test_of_a_point_and_its_negative_only_one_is_written(text: str) -> None:
    """The odd encoding of a point is refused, so each point has only one encoding."""
    negative = PRIME - int.from_bytes(bytes.fromhex(text), "little")
    assert is_point(negative.to_bytes(32, "little")) is False


def test_a_receipt_has_one_shape() -> None:
    """A receipt begins with a zero and has all of its parts; bytes after them are ignored."""
    valid = made_up_receipt()
    assert is_receipt(valid)
    assert is_receipt(valid + b"\x01")
    for invalid in (b"", valid[:-1], b"\x01" + valid[1:], valid[:1] + b"\x01" + valid[2:]):
        assert not is_receipt(invalid)
    least = bytes(1 + 5 * 32 + 8 + 8 + 8 + 16)
    assert is_receipt(least) is True
    assert is_receipt(least[:-1]) is False
    longer = bytes(161) + b"\x01" + bytes(7 + 32)
    assert (is_receipt(longer + b"\x00"), is_receipt(longer)) == (True, False)
    huge = bytes(161) + b"\xff" * 8 + bytes(200)
    assert not is_receipt(huge)

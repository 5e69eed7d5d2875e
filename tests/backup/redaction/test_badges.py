"""The replaced proof of a gift badge still parses, and is not valid."""

import random

from holdfast.backup.redaction.badges import BASE_POINT, INVALID_POINT, replace_proof
from holdfast.backup.rules.receipts import is_point

POINTS = bytes(32) + BASE_POINT * 3 + b"\xfe" * 32
PROOF = b"\0" + POINTS + (128).to_bytes(8, "little") + b"P" * 128 + b"EXPIRES!" + b"LEVEL..." + b"S" * 16


def test_structure_expiry_and_level_stay() -> None:
    """Valid points become the base point, an invalid one stays invalid, and expiry and level are kept."""
    assert is_point(BASE_POINT)
    assert not is_point(INVALID_POINT)
    new = replace_proof(PROOF, random.Random(1))
    assert len(new) == len(PROOF) == 329
    assert new[:161] == b"\0" + BASE_POINT * 4 + INVALID_POINT
    assert new[161:169] == PROOF[161:169]
    assert new[297:313] == b"EXPIRES!LEVEL..."
    assert (b"P" * 8 in new, b"S" * 8 in new) == (False, False)


def test_what_is_no_proof_stays_none() -> None:
    """An invalid proof is replaced by bytes of the same length that are no valid proof either."""
    for invalid in (PROOF[:-1], PROOF + b"x", b"\x01" + PROOF[1:], b"", b"\0", b"\0" * 169, PROOF[:169]):
        new = replace_proof(invalid, random.Random(1))
        assert len(new) == len(invalid)
        assert new[:1] == invalid[:1]
        assert BASE_POINT not in new

"""A state machine for UTF-8 as a table: one lookup and one shift per byte, without a branch.

A state is a shift count. The table entry of a byte, shifted right by the current state, has the next state in its
lowest six bits. The lookups do not depend on the state, so the processor can do several of them in parallel.
"""

from array import array
from typing import Final

__all__ = ["STEPS", "WHOLE"]

# The state after invalid UTF-8, which is final; and the state between two characters.
WRONG: Final = 0
WHOLE: Final = 6
# The states in which one, two or three continuation bytes follow.
ONE_MORE: Final = 12
TWO_MORE: Final = 18
THREE_MORE: Final = 24
# The states after a first byte that restricts the second: others would be an overlong form, a surrogate, or above
# U+10FFFF.
AFTER_E0: Final = 30
AFTER_ED: Final = 36
AFTER_F0: Final = 42
AFTER_F4: Final = 48

# The transitions: from a state, by a byte of a range, to a state.
WAYS: Final = (
    (WHOLE, 0x00, 0x7F, WHOLE),
    (WHOLE, 0xC2, 0xDF, ONE_MORE),
    (WHOLE, 0xE0, 0xE0, AFTER_E0),
    (WHOLE, 0xE1, 0xEC, TWO_MORE),
    (WHOLE, 0xED, 0xED, AFTER_ED),
    (WHOLE, 0xEE, 0xEF, TWO_MORE),
    (WHOLE, 0xF0, 0xF0, AFTER_F0),
    (WHOLE, 0xF1, 0xF3, THREE_MORE),
    (WHOLE, 0xF4, 0xF4, AFTER_F4),
    (ONE_MORE, 0x80, 0xBF, WHOLE),
    (TWO_MORE, 0x80, 0xBF, ONE_MORE),
    (THREE_MORE, 0x80, 0xBF, TWO_MORE),
    (AFTER_E0, 0xA0, 0xBF, ONE_MORE),
    (AFTER_ED, 0x80, 0x9F, ONE_MORE),
    (AFTER_F0, 0x90, 0xBF, TWO_MORE),
    (AFTER_F4, 0x80, 0x8F, TWO_MORE),
)

STEPS: Final = array(
    "Q", [sum(to << state for state, first, last, to in WAYS if first <= byte <= last) for byte in range(256)]
)

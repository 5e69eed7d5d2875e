"""The steps of UTF-8 as a table that is followed without a branch: one look-up and one shift for each byte.

A state is a number of bits. The entry of a byte, shifted by the state before it, has the next state in its lowest
six bits. So the entries of a text can be fetched one after the other without waiting for the states.
"""

from array import array
from typing import Final

__all__ = ["STEPS", "WHOLE"]

# Not UTF-8, from which nothing leads away; and between two characters.
WRONG: Final = 0
WHOLE: Final = 6
# So many further bytes of any kind.
ONE_MORE: Final = 12
TWO_MORE: Final = 18
THREE_MORE: Final = 24
# After a first byte that allows only some second ones: the others would say in too many bytes what takes fewer,
# make half a pair of surrogates, or lead beyond U+10FFFF.
AFTER_E0: Final = 30
AFTER_ED: Final = 36
AFTER_F0: Final = 42
AFTER_F4: Final = 48

# From a state, by a byte of this range, to a state.
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

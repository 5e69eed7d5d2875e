"""Faults of the wire format: the number of each, and its description."""

from typing import Final

__all__ = [
    "BAD_GROUP",
    "BAD_LIST",
    "BAD_TAG",
    "BAD_TEXT",
    "BAD_WIRE_TYPE",
    "CUT",
    "FAULTS",
    "LONG_VARINT",
    "TOO_DEEP",
    "TOO_LONG",
]

# 0 means no fault.
CUT: Final = 1
LONG_VARINT: Final = 2
TOO_LONG: Final = 3
BAD_TAG: Final = 4
BAD_WIRE_TYPE: Final = 5
BAD_GROUP: Final = 6
TOO_DEEP: Final = 7
BAD_TEXT: Final = 8
BAD_LIST: Final = 9

FAULTS: Final = {
    CUT: "ends in the middle of a field",
    LONG_VARINT: "holds a number that does not end within ten bytes",
    TOO_LONG: "claims to be longer than is allowed",
    BAD_TAG: "holds a field with an impossible number",
    BAD_WIRE_TYPE: "holds a field of a wire type that does not exist",
    BAD_GROUP: "holds a group that is closed wrongly",
    TOO_DEEP: "is nested too deep",
    BAD_TEXT: "holds text that is not UTF-8",
    BAD_LIST: "holds a list whose length is not a whole number of its elements",
}

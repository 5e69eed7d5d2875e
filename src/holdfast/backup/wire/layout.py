"""Numbers that the compiled core has as constants of C: the bits of a shape, and how large the registers are.

`layout.pxd` tells them to the compiler, and a test holds the two to each other. A compiled module takes them from
there, so that the C compiler can fold them into what it makes; interpreted, it imports them from here.
"""

from typing import Final

__all__ = [
    "AGED",
    "BOOL",
    "BYTES",
    "CHECKED",
    "DATED",
    "ENUM",
    "FIXED32",
    "FLOAT",
    "HEAD",
    "KEPT",
    "KIND",
    "LEVELS",
    "LIMIT_AT",
    "MAX_DEPTH",
    "MESSAGE",
    "MOST_RULES",
    "NOTES",
    "PACKABLE",
    "PAGE",
    "REFERRING",
    "REGISTERS",
    "REPEATED",
    "STRING",
    "TARGET_AT",
    "UINT32",
    "UINT64",
    "UNKNOWN",
    "WIDTH",
    "WIRE_TYPE",
]

# protobuf follows messages and groups, counted together, this many levels below the record.
MAX_DEPTH: Final = 100
# Rows of registers: one for each level, the record's own, and one to spare.
LEVELS: Final = 102
# Field numbers, and notes, that a row has room for.
WIDTH: Final = 48
NOTES: Final = 8
REGISTERS: Final = 4896
# How many numbers of a finding stand before the way to its field.
HEAD: Final = 7
# How many numbers fit on a page.
PAGE: Final = 1 << 16
# Rules have numbers below this.
MOST_RULES: Final = 2048

# A shape is what the core must know of a field in one number: the wire type in the lowest four bits, the kind in
# the next four, then flags.
WIRE_TYPE: Final = 15
KIND: Final = 15 << 4
MESSAGE: Final = 1 << 4
STRING: Final = 2 << 4
BYTES: Final = 3 << 4
UINT64: Final = 4 << 4
UINT32: Final = 5 << 4
BOOL: Final = 6 << 4
ENUM: Final = 7 << 4
FIXED32: Final = 8 << 4
FLOAT: Final = 9 << 4
REPEATED: Final = 1 << 8
PACKABLE: Final = 1 << 9  # a list of numbers: canonically one length-delimited field
KEPT: Final = 1 << 10  # written even when it has its default value
# The wire type of the unknown slot is one that no tag can have, not even a wrong one.
UNKNOWN: Final = 15

# What a shape gets in a plan, above that: a value that is checked, one that is a date or refers to somebody, a
# field that was added or taken out, and the message or enum the field leads to.
CHECKED: Final = 1 << 16
AGED: Final = 1 << 17
DATED: Final = 1 << 18
REFERRING: Final = 1 << 19
TARGET_AT: Final = 32

# What is to be known of a message in one number: the base of its slots and, from these bits on, the first field
# number past its last.
LIMIT_AT: Final = 16

"""Constants of the compiled modules: the bits of a field's shape, and the sizes of registers and buffers.

`layout.pxd` has the same constants for the C compiler, so that it can fold them; a test compares the two. A
compiled module uses the `.pxd`; interpreted, it imports them from here.
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

# The recursion limit of protobuf: nested messages and groups, counted together, below the record.
MAX_DEPTH: Final = 100
# Rows of registers: one for each nesting level, one for the record, and one spare.
LEVELS: Final = 102
# Field numbers, and notes, per row.
WIDTH: Final = 48
NOTES: Final = 8
REGISTERS: Final = 4896
# Numbers of a finding before the path of its field.
HEAD: Final = 7
# Numbers that fit into the buffer of findings.
PAGE: Final = 1 << 16
# All rule numbers are below this.
MOST_RULES: Final = 2048

# The shape of a field packs its properties into one number: the wire type in the lowest four bits, the kind in the
# next four, then flags.
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
PACKABLE: Final = 1 << 9  # a repeated number, canonically written as one length-delimited field
KEPT: Final = 1 << 10  # has presence: written even if it has its default value
# The wire type of the unknown slot is one that no tag can have, valid or not.
UNKNOWN: Final = 15

# Flags that the rules add to a shape: the value is checked, is a date, refers to a recipient, the field was added
# or removed in another edition; and, above the flags, the number of the field's message or enum.
CHECKED: Final = 1 << 16
AGED: Final = 1 << 17
DATED: Final = 1 << 18
REFERRING: Final = 1 << 19
TARGET_AT: Final = 32

# The head of a message packs two numbers: the base of its slots and, from this bit on, its highest field number
# plus one.
LIMIT_AT: Final = 16

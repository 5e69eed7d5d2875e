"""The wire format: parses and writes frame streams without building message objects.

cursor        a read position in a buffer, and the primitive reads (varint, tag, length, UTF-8)
frames        splits a buffer into length-prefixed records
walk          parses every field of a record against the schema, and counts
collect       extracts selected fields from a record
leaves        finds the byte ranges of selected values, to overwrite them
renumber      copies messages with their ids replaced
unknown       describes fields and values that are not in the schema
render        writes a record as JSON text
tojson        converts records to JSON
fromjson      converts JSON to records
line_encoder  converts JSON Lines to frames; the fast path of `fromjson`
tables        the schema as flat arrays, which the other modules index
name_table    the names of the schema as a hash table
stream        reads a file, a buffer at a time
salvage       the same, skipping what cannot be read

All but `tables`, `name_table`, `stream`, `salvage` and `fromjson` are compiled by Cython if a C compiler is found
at install, and run as plain Python otherwise.
"""

from holdfast.backup.wire.frames import COMPILED
from holdfast.backup.wire.names import Names
from holdfast.backup.wire.stream import Block, Frame, FrameStream, StreamLimits
from holdfast.backup.wire.tojson import Lines, frame_to_json, header_to_json, to_json_lines
from holdfast.redacted_repr import redacted

__all__ = [
    "COMPILED",
    "Block",
    "Frame",
    "FrameStream",
    "Lines",
    "Names",
    "StreamLimits",
    "frame_to_json",
    "header_to_json",
    "to_json_lines",
]

redacted(Lines)

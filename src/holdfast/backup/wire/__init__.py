"""The hot core: frame streams taken apart without building message objects.

cursor      a place in a buffer, and the steps by which it moves
frames      splits a buffer into records
walk        follows every field of a record against the schema, and counts
collect     picks chosen fields out of a record
leaves      finds where chosen values stand, to overwrite them
renumber    copies messages with other ids in them
unknown     names what the schema does not know
render      writes a record as JSON text
tojson      records to JSON
fromjson    and back
line_encoder  JSON Lines to frames, where they are written the usual way
tables      the schema as flat arrays, which all of these index
name_table  its names as a hash table
stream      reads a file, a buffer at a time

All but `tables`, `name_table`, `stream` and `fromjson` are compiled where a C compiler was found at install, and
run as plain Python where not.
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

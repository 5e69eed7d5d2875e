"""The hot core: frame streams taken apart without building message objects.

`frames` is compiled where a C compiler was found at install, and runs as plain Python where not; everything else
in this room is ordinary Python around it.
"""

from holdfast.backup.wire.frames import COMPILED
from holdfast.backup.wire.stream import Frame, FrameStream, Limits, Tally

__all__ = ["COMPILED", "Frame", "FrameStream", "Limits", "Tally"]

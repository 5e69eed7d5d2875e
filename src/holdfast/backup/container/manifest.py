"""The manifest of a local snapshot (its file `files`): the names of all attachment files it refers to."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import BinaryIO, Final

from google.protobuf.message import DecodeError

from holdfast.backup.container.chunks import Sink
from holdfast.backup.errors import DamagedBackup, UnreadableBackup
from holdfast.backup.schema import local_pb2
from holdfast.backup.wire import FrameStream, StreamLimits
from holdfast.backup.wire.varint import encode_varint

__all__ = ["read_manifest", "write_manifest"]

# A record has 66 bytes; the rest is reserved for fields of newer versions.
LIMITS: Final = StreamLimits(frame_bytes=64 * 1024)


def read_manifest(source: BinaryIO) -> Iterator[str]:
    """Yield the names as written; records without a name are skipped, and an empty file has none.

    The names are not validated: `content_path` does that.
    """
    try:
        stream = FrameStream(source, limits=LIMITS)
    except UnreadableBackup:  # an empty file, which a frame stream may not be but a manifest may
        return
    further = ((frame.index, frame.offset, frame.raw) for frame in stream)
    for index, offset, raw in chain([(0, 0, stream.header)], further):
        try:
            name = local_pb2.FilesFrame.FromString(raw).mediaName
        except DecodeError:
            raise DamagedBackup("a record of the manifest is not readable", frame=index, offset=offset) from None
        if name:
            yield name


def write_manifest(target: Sink, names: Iterable[str]) -> None:
    """Write each name once."""
    for name in dict.fromkeys(names):
        raw = local_pb2.FilesFrame(mediaName=name).SerializeToString()
        target.write(encode_varint(len(raw)) + raw)

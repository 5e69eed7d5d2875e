"""Looking into a backup: the core against protobuf's own parser on the same frames."""

import io
import random

from bench.harness import Figure, medians
from holdfast import backup
from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.wire import FrameStream

FRAMES = 200_000


def stream() -> bytes:
    """Write a stream of short messages, about 170 bytes each."""
    random_bytes = random.Random(1)
    header = BackupInfo(version=1, backupTimeMs=1_700_000_000_000).SerializeToString()
    out = io.BytesIO()
    out.write(bytes([len(header)]) + header)
    for number in range(FRAMES):
        frame = Frame()
        item = frame.chatItem
        item.chatId, item.authorId, item.dateSent = number % 50 + 1, number % 90 + 1, 1_600_000_000_000 + number
        item.incoming.dateReceived, item.incoming.read = item.dateSent + 900, True
        item.standardMessage.text.body = "x" * random_bytes.randrange(20, 240)
        raw = frame.SerializeToString()
        size = len(raw)
        out.write((bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])) + raw)
    return out.getvalue()


def figures() -> list[Figure]:
    """Measure."""
    data = stream()
    raws = [frame.raw for frame in FrameStream(io.BytesIO(data))]
    taken = medians(
        {
            "info": lambda: backup.info(io.BytesIO(data)),
            "frames": lambda: sum(1 for _ in FrameStream(io.BytesIO(data))),
            "protobuf": lambda: [Frame.FromString(raw) for raw in raws],
        }
    )
    return [
        Figure("backup.info, frames a second", FRAMES / taken["info"], "frames/s"),
        Figure("backup.info, times protobuf parsing the same frames", taken["protobuf"] / taken["info"], "x", 2),
        Figure("iterating frames, frames a second", FRAMES / taken["frames"], "frames/s"),
    ]

"""`info` of every valid file of the corpus, compared with counts of protobuf objects."""

from collections import Counter
from pathlib import Path

from google.protobuf.internal.decoder import _DecodeVarint32  # type: ignore[attr-defined]  # an independent splitter

from holdfast import backup
from holdfast.backup.schema import BackupInfo, Frame


def count_with_protobuf(data: bytes) -> tuple[BackupInfo, Counter[str | None]]:
    """Split with protobuf's own varint reader and parse every record with its classes."""
    records, at = [], 0
    while at < len(data):
        size, at = _DecodeVarint32(data, at)
        records.append(data[at : at + size])
        at += size
    frames = (Frame.FromString(raw) for raw in records[1:])
    return BackupInfo.FromString(records[0]), Counter(frame.WhichOneof("item") for frame in frames)


def test_info_agrees_with_protobuf_on_every_valid_file(corpus: Path) -> None:
    """Header and counts are the same as protobuf's classes find."""
    files = sorted((corpus / "valid").glob("*.binproto"))
    assert files
    for file in files:
        header, counts = count_with_protobuf(file.read_bytes())
        info = backup.info(file)
        assert info.header == backup.Header(
            header.version, header.backupTimeMs, header.currentAppVersion, header.firstAppVersion
        )
        assert {name: count for name, count in info.counts.items() if count} == dict(counts), file.name
        assert info.bytes == file.stat().st_size

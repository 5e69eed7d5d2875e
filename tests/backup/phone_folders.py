"""A phone's backup folder with several snapshots, one for each night."""

from pathlib import Path

from holdfast.backup.conversion import OutputFormat
from holdfast.backup.schema import BackupInfo, Frame
from holdfast_demo.sample_writer import write_sample
from tests.backup.streams import KEYS, folder_of, sample

DAY_MS = 86_400_000


def later_records(records: tuple[bytes, ...], days: int, *, without: int = 0) -> tuple[bytes, ...]:
    """Return a backup that was made some days later, without the first so many plain messages."""
    header = BackupInfo.FromString(records[0])
    header.backupTimeMs += days * DAY_MS
    remaining: list[bytes] = []
    for raw in records[1:]:
        item = Frame.FromString(raw).chatItem
        if without and item.standardMessage.text.body and not item.standardMessage.attachments:
            without -= 1
            continue
        remaining.append(raw)
    return (header.SerializeToString(), *remaining)


def write_phone_folder(folder: Path, messages: int = 80) -> Path:
    """Write a phone's folder with one snapshot, and return it."""
    return folder_of(sample(messages), folder).parent


def add_snapshot(folder: Path, records: tuple[bytes, ...]) -> Path:
    """Write one more snapshot into a phone's folder; attachments that are there already are shared."""
    other = folder.parent / "apart"
    write_sample(iter(records), other, OutputFormat.FOLDER, seed=1, keys=KEYS)
    (snapshot,) = other.glob("signal-backup-*")
    for file in (other / "files").glob("??/*"):
        target = folder / "files" / file.parent.name / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            file.rename(target)
    moved = snapshot.rename(folder / snapshot.name)
    for left in sorted(other.rglob("*"), reverse=True):
        left.unlink() if left.is_file() else left.rmdir()
    other.rmdir()
    return moved

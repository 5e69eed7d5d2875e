"""A phone's folder with several snapshots, as a phone leaves it that makes a backup every night."""

from pathlib import Path

from holdfast.backup.conversion import OutputFormat
from holdfast.backup.schema import BackupInfo, Frame
from holdfast_demo.sample_writer import write_sample
from tests.backup.streams import KEYS, folder_of, sample

DAY_MS = 86_400_000


def later(records: tuple[bytes, ...], days: int, *, without: int = 0) -> tuple[bytes, ...]:
    """Return a backup that was made some days later, without the first so many plain messages."""
    header = BackupInfo.FromString(records[0])
    header.backupTimeMs += days * DAY_MS
    kept: list[bytes] = []
    for raw in records[1:]:
        item = Frame.FromString(raw).chatItem
        if without and item.standardMessage.text.body and not item.standardMessage.attachments:
            without -= 1
            continue
        kept.append(raw)
    return (header.SerializeToString(), *kept)


def phone(home: Path, messages: int = 80) -> Path:
    """Write a phone's folder with one snapshot, and return it."""
    return folder_of(sample(messages), home).parent


def add_snapshot(folder: Path, records: tuple[bytes, ...]) -> Path:
    """Write one more snapshot into a phone's folder; attachments that are there already are shared."""
    apart = folder.parent / "apart"
    write_sample(iter(records), apart, OutputFormat.FOLDER, seed=1, keys=KEYS)
    (made,) = apart.glob("signal-backup-*")
    for file in (apart / "files").glob("??/*"):
        target = folder / "files" / file.parent.name / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            file.rename(target)
    moved = made.rename(folder / made.name)
    for left in sorted(apart.rglob("*"), reverse=True):
        left.unlink() if left.is_file() else left.rmdir()
    apart.rmdir()
    return moved

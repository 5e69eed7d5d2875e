"""Generated conversations in the data folder: a backup and an archive with pictures."""

import tempfile
from pathlib import Path
from typing import Final

from holdfast.backup import archives, backup_reader
from holdfast.backup.container.atomic_write import write_atomically
from holdfast.backup.wire.varint import encode_varint
from holdfast.settings import Settings
from holdfast_demo.sample import sample_media, sample_records
from holdfast_demo.sample_writer import SampleMedia

__all__ = ["add_conversation"]

MESSAGES: Final = 5000
# Small, because the archive is created before the service answers.
ARCHIVED: Final = 1000
SEED: Final = 1
ARCHIVE: Final = "demo-with-pictures.db"


def add_conversation(settings: Settings) -> None:
    """Add a generated backup to the data folder, and an archive with attachments."""
    folder = settings.data / "backups"
    folder.mkdir(mode=0o700, exist_ok=True)
    with write_atomically(folder / "demo.binproto", replace=True) as target:
        for record in sample_records(MESSAGES):
            target.write(encode_varint(len(record)) + record)
    add_archive(folder / ARCHIVE)


def add_archive(path: Path) -> None:
    """Create an archive of a generated history with its attachments."""
    if path.exists():
        return
    with tempfile.TemporaryFile() as plain:
        for record in sample_records(ARCHIVED, SEED):
            plain.write(encode_varint(len(record)) + record)
        plain.seek(0)
        with backup_reader.open(plain) as backup, archives.open(path, create=True) as archive:
            backup.media = SampleMedia(sample_media(SEED))
            archive.add(backup)
            archive.connection.execute("UPDATE snapshot SET source = 'demo'")
            for _ in archive.copy_media(backup):
                pass

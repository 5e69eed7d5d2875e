"""A made-up conversation in the data folder, as the backup of somebody who does not exist."""

from typing import Final

from holdfast.backup.container.whole import write_whole
from holdfast.backup.wire.varint import encode_varint
from holdfast.settings import Settings
from holdfast_demo.sample import sample_records

__all__ = ["add_conversation"]

MESSAGES: Final = 5000


def add_conversation(settings: Settings) -> None:
    """Put a made-up conversation into the data folder."""
    folder = settings.data / "backups"
    folder.mkdir(mode=0o700, exist_ok=True)
    with write_whole(folder / "demo.binproto", replace=True) as target:
        for record in sample_records(MESSAGES):
            target.write(encode_varint(len(record)) + record)

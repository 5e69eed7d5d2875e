"""Something to look at for whoever starts Holdfast for the first time."""

from typing import Final

from holdfast.backup.container.whole import write_whole
from holdfast.backup.sample import sample_records
from holdfast.backup.wire.varint import encode_varint
from holdfast.settings import Settings

__all__ = ["add_demo"]

MESSAGES: Final = 5000


def add_demo(settings: Settings) -> None:
    """Put a made-up conversation into the data folder."""
    folder = settings.data / "backups"
    folder.mkdir(mode=0o700, exist_ok=True)
    with write_whole(folder / "demo.binproto") as target:
        for record in sample_records(MESSAGES):
            target.write(encode_varint(len(record)) + record)

"""Writes generated chat histories in any format, with their attachments if the format can contain them."""

import io
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from holdfast.backup import backup_reader
from holdfast.backup.container.attachments import AttachmentKey
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.conversion import Conversion, OutputFormat, convert
from holdfast.backup.errors import AttachmentMissing
from holdfast.backup.writer import write_stream
from holdfast.redacted_repr import redacted
from holdfast_demo.sample import sample_media
from holdfast_demo.sample.media import Media

__all__ = ["SampleMedia", "write_sample"]


@redacted
@dataclass(frozen=True, slots=True)
class SampleMedia:
    """The generated attachments of a generated history, as the media of a backup."""

    media: dict[bytes, Media]

    @contextmanager
    def open(self, attachment: AttachmentKey) -> Iterator[BinaryIO]:
        """Open an attachment."""
        self.check(attachment)
        yield io.BytesIO(self.media[attachment.plaintext_hash].content)

    def check(self, attachment: AttachmentKey) -> None:
        """Raise `AttachmentMissing` unless the attachment belongs to this history."""
        if attachment.plaintext_hash not in self.media:
            raise AttachmentMissing(f"attachment {attachment.name} is not of this sample")

    def has_files(self) -> bool:
        """Return True: every attachment can be generated."""
        return True


def write_sample(
    records: Iterator[bytes],
    target: Path | BinaryIO,
    to: OutputFormat,
    *,
    seed: int,
    keys: KeyMaterial | None = None,
    replace: bool = False,
) -> Conversion | None:
    """Write the records of `sample_records` in a format; a folder also gets the attachments of `seed`."""
    header = next(records)
    if to is OutputFormat.STREAM:
        with write_stream(target, header, unchecked=True, replace=replace) as writer:
            for record in records:
                writer.write(record)
        return None
    with tempfile.TemporaryFile() as plain:
        with write_stream(plain, header, unchecked=True) as writer:
            for record in records:
                writer.write(record)
        plain.seek(0)
        with backup_reader.open(plain) as backup:
            backup.media = SampleMedia(sample_media(seed))
            # Generated content is not secret, so any key is accepted.
            backup.recovery_keys = () if keys is None or keys.pool is None else (keys.pool,)
            return convert(backup, target, to=to, keys=keys, replace=replace)

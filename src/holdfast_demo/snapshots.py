"""Two backups of a generated history, a year apart, for the repository `conversations`."""

import io
from typing import Final

from holdfast.backup import backup_reader
from holdfast.backup.compare.crop import crop
from holdfast.backup.compare.selection import Window
from holdfast.backup.conversion import OutputFormat
from holdfast.backup.wire.varint import encode_varint
from holdfast_demo.sample import sample_records

__all__ = ["ATTRIBUTES", "FILE", "README", "snapshots"]

FILE: Final = "phone.binproto"
MESSAGES: Final = 1500
# Not the seed of the history in the data folder.
SEED: Final = 7
LAST_MS: Final = 1_735_689_599_999
ATTRIBUTES: Final = f"{FILE} filter=lfs diff=lfs merge=lfs -text\n"
README: Final = f"""# Conversations

A snapshot of a phone, brought up to date now and then with

    holdfast backup push {FILE} maren/conversations

Open [{FILE}]({FILE}) and choose *Browse chats*: the conversations are shown as they were on the phone, those of an
earlier snapshot at an earlier commit. Only those who may see this repository may read any of it.
"""


def snapshots() -> tuple[bytes, bytes]:
    """Return the history up to the end of a year, and the whole history."""
    whole = b"".join(encode_varint(len(record)) + record for record in sample_records(MESSAGES, seed=SEED))
    earlier = io.BytesIO()
    with backup_reader.open(io.BytesIO(whole)) as source:
        crop(source, earlier, to=OutputFormat.STREAM, window=Window(None, LAST_MS))
    return earlier.getvalue(), whole

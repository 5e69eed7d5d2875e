"""Export to JSON Lines: all data of an archive, one record per line, described by a JSON Schema.

`export.json` describes the export, `schema.json` every record. `chats.jsonl`, `people.jsonl` and `account.jsonl`
have the records other than messages. Each chat has a folder with a file per year, or per month of a busy year, so
that a later snapshot changes only the last file of a chat. Each line can be read independently.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

import holdfast
from holdfast.backup.archives import Archive
from holdfast.backup.exports import account_records, schemas
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.folder import ExportSummary
from holdfast.backup.exports.job import Job, Progress
from holdfast.backup.exports.names import chat_name
from holdfast.backup.exports.periods import periods
from holdfast.backup.exports.stamps import account_digests
from holdfast.backup.exports.zip_file import ZipTarget, open_target

__all__ = ["schema_text", "write_json"]

MAX_MESSAGES: Final = 50_000
# Lines per write; batches take half the time.
BATCH_LINES: Final = 500


def write_json(
    archive: Archive,
    target: Path | ZipTarget,
    choice: ChatSelection,
    *,
    media: bool = True,
    progress: Progress | None = None,
    stamp: str = "",
) -> ExportSummary:
    """Write an archive, or a selection of it, as JSON Lines."""
    with open_target(target, "json", stamp, account_digests(archive)) as folder:
        if (summary := folder.finish_unchanged()) is not None:
            return summary
        job = Job(archive, folder, choice, media, progress)
        periods_by_chat = {chat.id: periods(archive, chat.id, choice, MAX_MESSAGES) for chat in job.chats}
        job.total = sum(period.messages for chat_periods in periods_by_chat.values() for period in chat_periods)
        chats: list[schemas.Line] = []
        for chat in job.chats:
            folder_name = f"messages/{chat_name(chat.name, chat.id)}"
            names = [f"{folder_name}/{period.name}.jsonl" for period in periods_by_chat[chat.id]]
            for name, period in zip(names, periods_by_chat[chat.id], strict=True):
                folder.put(name, encode_lines(job.messages(chat.id, period)))
            chats.append(account_records.chat_record(archive, chat, names))
        folder.put("chats.jsonl", encode_lines(chats))
        folder.put("people.jsonl", encode_lines(account_records.recipient_records(archive, job.people())))
        if job.is_whole:
            folder.put("account.jsonl", encode_lines(account_records.other_records(archive)))
        folder.put("schema.json", schema_text())
        folder.put("export.json", encode_indented(export_record(job)))
        return folder.finish()


def schema_text() -> bytes:
    """Return the JSON Schema of all records."""
    return encode_indented(schemas.json_schema())


def export_record(job: Job) -> schemas.Export:
    """Return the record that describes the export."""
    account_ids = {chat.account_id for chat in job.chats}
    return schemas.Export(
        format=schemas.FORMAT,
        version=schemas.VERSION,
        made_by=f"Holdfast {holdfast.__version__}",
        since_ms=job.choice.since_ms,
        until_ms=job.choice.until_ms,
        chats=tuple(chat.id for chat in job.chats) if job.choice.chats else (),
        accounts=tuple(
            account
            for account in account_records.account_list(job.archive, settings=job.is_whole)
            if job.is_whole or account.id in account_ids
        ),
    )


def encode_lines(records: Iterable[schemas.Line]) -> Iterator[bytes]:
    """Encode records, one per line, in batches."""
    encoder = msgspec.json.Encoder()
    batch: list[bytes] = []
    for record in records:
        batch.append(encoder.encode(record))
        if len(batch) == BATCH_LINES:
            yield b"\n".join(batch) + b"\n"
            batch.clear()
    if batch:
        yield b"\n".join(batch) + b"\n"


def encode_indented(record: object) -> bytes:
    """Encode a record with indentation."""
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"

"""The JSON form: one record a line, everything an archive knows, described by a JSON Schema.

`export.json` says what the export is, `schema.json` describes every record. `chats.jsonl`, `people.jsonl` and
`account.jsonl` hold what messages stand among, and each chat has a folder with a file for every year, or for every
month of a busy one. So a later snapshot changes the last file of a chat and no other. Any line can be read alone.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

import holdfast
from holdfast.backup.archives import Archive
from holdfast.backup.exports import schemas, surroundings
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.folder import ExportSummary
from holdfast.backup.exports.job import Job, Progress
from holdfast.backup.exports.names import chat_name
from holdfast.backup.exports.periods import periods
from holdfast.backup.exports.stamps import accounts_of
from holdfast.backup.exports.zip_file import ZipTarget, open_target

__all__ = ["schema_text", "write_json"]

MOST: Final = 50_000
# Lines are written together, which takes half the time.
TOGETHER: Final = 500


def write_json(
    archive: Archive,
    target: Path | ZipTarget,
    choice: ChatSelection,
    *,
    media: bool = True,
    progress: Progress | None = None,
    stamp: str = "",
) -> ExportSummary:
    """Write an archive, or what was chosen of it, as JSON Lines."""
    with open_target(target, "json", stamp, accounts_of(archive)) as folder:
        if (summary := folder.settled()) is not None:
            return summary
        job = Job(archive, folder, choice, media, progress)
        cuts = {chat.id: periods(archive, chat.id, choice, MOST) for chat in job.chats}
        job.total = sum(period.messages for chat_periods in cuts.values() for period in chat_periods)
        chats: list[schemas.Line] = []
        for chat in job.chats:
            home = f"messages/{chat_name(chat.name, chat.id)}"
            names = [f"{home}/{period.name}.jsonl" for period in cuts[chat.id]]
            for name, period in zip(names, cuts[chat.id], strict=True):
                folder.put(name, lines(job.messages(chat.id, period)))
            chats.append(surroundings.chat(archive, chat, names))
        folder.put("chats.jsonl", lines(chats))
        folder.put("people.jsonl", lines(surroundings.people(archive, job.people())))
        if job.whole:
            folder.put("account.jsonl", lines(surroundings.rest(archive)))
        folder.put("schema.json", schema_text())
        folder.put("export.json", indented(head(job)))
        return folder.finish()


def schema_text() -> bytes:
    """Write the JSON Schema of every record."""
    return indented(schemas.json_schema())


def head(job: Job) -> schemas.Export:
    """Say what the export is."""
    within = {chat.account_id for chat in job.chats}
    return schemas.Export(
        format=schemas.FORMAT,
        version=schemas.VERSION,
        made_by=f"Holdfast {holdfast.__version__}",
        since_ms=job.choice.since_ms,
        until_ms=job.choice.until_ms,
        chats=tuple(chat.id for chat in job.chats) if job.choice.chats else (),
        accounts=tuple(
            account
            for account in surroundings.accounts(job.archive, settings=job.whole)
            if job.whole or account.id in within
        ),
    )


def lines(records: Iterable[schemas.Line]) -> Iterator[bytes]:
    """Write records, one a line."""
    encoder = msgspec.json.Encoder()
    waiting: list[bytes] = []
    for record in records:
        waiting.append(encoder.encode(record))
        if len(waiting) == TOGETHER:
            yield b"\n".join(waiting) + b"\n"
            waiting.clear()
    if waiting:
        yield b"\n".join(waiting) + b"\n"


def indented(record: object) -> bytes:
    """Write one record for people."""
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"

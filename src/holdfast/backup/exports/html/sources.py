"""Dependency tracking of pages: a page whose inputs are unchanged is not rendered again.

A page depends on the rows of its messages, and on what its rendering read: names of people, times of snapshots,
positions of quoted messages, available files. These queries are stored with a digest of the rows and of all
results. The next export runs the same queries; if the digest is the same, so is the page. A row is represented by
its fingerprint, which covers all imported fields of a message; whatever can change without it is among the
queries.
"""

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Annotated, Any, Final, TypeVar

import msgspec

from holdfast.backup.archives import Archive
from holdfast.backup.archives.model import ArchivedAttachment
from holdfast.backup.exports.html.clock import TimeFormatter
from holdfast.backup.exports.stamps import digest, program_digest, zone_offsets
from holdfast.redacted_repr import redacted

__all__ = [
    "MARKS",
    "FileKey",
    "PageInputs",
    "PageSources",
    "RenderedMessages",
    "ReusableFiles",
    "WrittenPage",
    "decode_note",
    "row_marks",
    "to_attachment",
]

# The columns of messages that determine their rendering.
MARKS: Final = "m.id, m.author_id, m.order_ms, m.order_n, m.first_seen, m.last_seen, m.fingerprint"
# The same columns of a full row.
row_marks: Final = itemgetter(0, 2, 8, 9, 13, 14, 15)
# An attachment of a page: its media name, content type and file name.
FileKey = tuple[str, str | None, str | None]
Kind = TypeVar("Kind", bound=msgspec.Struct)


@redacted
class WrittenPage(msgspec.Struct, frozen=True, array_like=True):
    """A page that was written.

    `start` is the position of its first message, `page` and `texts` are the marks of its files, `latest` is the
    time of its latest searchable text.
    """

    start: tuple[int, int, int]
    page: str
    texts: str | None
    latest: int


@redacted
class PageInputs(msgspec.Struct, frozen=True, array_like=True):
    """The inputs that the rendering of pages read from the archive.

    People; the first and last snapshots of messages; messages with mentions, and replies; files, and files of long
    texts.
    """

    people: tuple[int | str, ...]
    first: tuple[int, ...]
    last: tuple[int, ...]
    mentions: tuple[int, ...]
    replies: tuple[int, ...]
    files: tuple[FileKey, ...]
    texts: tuple[FileKey, ...]


@redacted
class RenderedMessages(msgspec.Struct, frozen=True, array_like=True):
    """Messages that were rendered on one page or several, with the inputs of the rendering."""

    stamp: str
    requested: PageInputs
    parts: Annotated[tuple[WrittenPage, ...], msgspec.Meta(min_length=1)]
    preview: str


@redacted
class ReusableFiles(msgspec.Struct, frozen=True, array_like=True):
    """Files with the same inputs: their names and marks."""

    stamp: str
    files: tuple[tuple[str, str], ...]


def decode_note(value: Any, kind: type[Kind]) -> Kind | None:
    """Decode a note of an earlier run; None if there is none or it is invalid."""
    try:
        return None if value is None else msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return None


def to_attachment(file: FileKey, path: str | None) -> ArchivedAttachment:
    """Return an attachment from its key and its current path."""
    media_name, content_type, file_name = file
    return ArchivedAttachment(
        "attachment",
        0,
        0,
        content_type,
        file_name,
        0,
        None,
        None,
        None,
        None,
        None,
        media_name,
        path,
    )


class PageSources:
    """The common inputs of all pages of an export, and queries for those of single pages."""

    def __init__(self, archive: Archive, clock: TimeFormatter, *, media: bool, search: bool) -> None:
        self.archive = archive
        self.base_digest = digest(program_digest(), dict(archive.table), zone_offsets(clock.zone), media, search)
        # With the time of the import, as a newer version may have imported the same backup differently.
        rows = archive.connection.execute("SELECT id, digest, imported_ms FROM snapshot").fetchall()
        self.snapshots: dict[int, tuple[str, int]] = {number: (mark, when) for number, mark, when in rows}
        self.vanished = archive.vanished_times(set(self.snapshots))

    def people(self, account: int, requested: Iterable[int | str]) -> list[tuple[str | None, bool]]:
        """Return the names of people."""
        return [self.archive.names.lookup(account, whom) for whom in requested]

    def seen(self, first: Iterable[int], last: Iterable[int]) -> list[object]:
        """Return snapshots, and the times at which messages last seen in them vanished."""
        return [
            [self.snapshots.get(number) for number in first],
            [(self.snapshots.get(number), self.vanished.get(number)) for number in last],
        ]

    def texts(self, requested: Sequence[FileKey]) -> list[str | None]:
        """Return digests of long texts, None for missing ones."""
        read = self.archive.long_text
        texts = [read(attachment.path) if attachment.path else None for attachment in self.attachments(requested)]
        return [None if text is None else digest(text) for text in texts]

    def mentioned(self, requested: Sequence[int]) -> list[tuple[int, int | None]]:
        """Return the people mentioned in messages; a later import can resolve unknown ones."""
        if not requested:
            return []
        return self.archive.connection.execute(
            "SELECT r.message_id, r.mention_id FROM text_range r "
            "WHERE r.revision = 0 AND r.mention_aci IS NOT NULL "
            "AND r.message_id IN (SELECT value FROM json_each(?)) ORDER BY r.message_id, r.part, r.n",
            (msgspec.json.encode(requested).decode(),),
        ).fetchall()

    def attachments(self, requested: Sequence[FileKey]) -> list[ArchivedAttachment]:
        """Return attachments with their current paths in the archive."""
        if not requested:
            return []
        names = msgspec.json.encode([file[0] for file in requested]).decode()
        rows = self.archive.connection.execute(
            "SELECT media_name, path FROM media WHERE media_name IN (SELECT value FROM json_each(?))", (names,)
        )
        paths: dict[str, str] = dict(rows.fetchall())
        return [to_attachment(file, paths.get(file[0])) for file in requested]

"""What pages were drawn from, so that those whose sources are the same need not be drawn again.

A page is made of the rows of its messages, and of what its rendering read: who people are, when snapshots were
made, where the messages are that others answer to, which files there are. Those queries are stored with a digest
of the rows and of all results. The next export runs the same queries; when the digest is the same, so is the page.
A row is represented by its fingerprint, which covers all that was imported of a message; what can change without
it is among the queries.
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

# The rows of messages as far as pages can tell them apart.
MARKS: Final = "m.id, m.author_id, m.order_ms, m.order_n, m.first_seen, m.last_seen, m.fingerprint"
# The same of a whole row.
row_marks: Final = itemgetter(0, 2, 8, 9, 13, 14, 15)
# An attachment that a page may show: the name it is kept under, its type, and what it is called.
FileKey = tuple[str, str | None, str | None]
Kind = TypeVar("Kind", bound=msgspec.Struct)


@redacted
class WrittenPage(msgspec.Struct, frozen=True, array_like=True):
    """A page as it was written.

    `start` is where its first message stands, `page` and `texts` are the marks of its files, `latest` is the time
    of the last text that the search finds on it.
    """

    start: tuple[int, int, int]
    page: str
    texts: str | None
    latest: int


@redacted
class PageInputs(msgspec.Struct, frozen=True, array_like=True):
    """What the rendering of pages read from the archive.

    People; the snapshots that were the first and the last to have messages; messages that mention somebody, and
    such that answer to others; files, and texts that were kept as files.
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
    """Messages that were drawn, on one page or several, with what they were drawn from."""

    stamp: str
    requested: PageInputs
    parts: Annotated[tuple[WrittenPage, ...], msgspec.Meta(min_length=1)]
    preview: str


@redacted
class ReusableFiles(msgspec.Struct, frozen=True, array_like=True):
    """Files that were made of the same: their names and marks."""

    stamp: str
    files: tuple[tuple[str, str], ...]


def decode_note(value: Any, kind: type[Kind]) -> Kind | None:
    """Read what an earlier run wrote down; None for nothing, and for what no run of ours would write."""
    try:
        return None if value is None else msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return None


def to_attachment(file: FileKey, path: str | None) -> ArchivedAttachment:
    """Make an attachment of what is remembered of it, and of where it lies now."""
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
    """What all pages of an export are drawn from, and the facts that few of them ask for."""

    def __init__(self, archive: Archive, clock: TimeFormatter, *, media: bool, search: bool) -> None:
        self.archive = archive
        self.base_digest = digest(program_digest(), dict(archive.table), zone_offsets(clock.zone), media, search)
        # The time of the import, as another import may have read the same backup otherwise.
        rows = archive.connection.execute("SELECT id, digest, imported_ms FROM snapshot").fetchall()
        self.snapshots: dict[int, tuple[str, int]] = {number: (mark, when) for number, mark, when in rows}
        self.vanished = archive.vanished_times(set(self.snapshots))

    def people(self, account: int, requested: Iterable[int | str]) -> list[tuple[str | None, bool]]:
        """Answer who people are."""
        return [self.archive.names.lookup(account, whom) for whom in requested]

    def seen(self, first: Iterable[int], last: Iterable[int]) -> list[object]:
        """Answer what snapshots were, and when what they were the last to have was gone."""
        return [
            [self.snapshots.get(number) for number in first],
            [(self.snapshots.get(number), self.vanished.get(number)) for number in last],
        ]

    def texts(self, requested: Sequence[FileKey]) -> list[str | None]:
        """Answer what long texts say, as far as they are there."""
        read = self.archive.long_text
        texts = [read(attachment.path) if attachment.path else None for attachment in self.attachments(requested)]
        return [None if text is None else digest(text) for text in texts]

    def mentioned(self, requested: Sequence[int]) -> list[tuple[int, int | None]]:
        """Answer who is mentioned in messages; whoever was not known may be known now."""
        if not requested:
            return []
        return self.archive.connection.execute(
            "SELECT r.message_id, r.mention_id FROM text_range r "
            "WHERE r.revision = 0 AND r.mention_aci IS NOT NULL "
            "AND r.message_id IN (SELECT value FROM json_each(?)) ORDER BY r.message_id, r.part, r.n",
            (msgspec.json.encode(requested).decode(),),
        ).fetchall()

    def attachments(self, requested: Sequence[FileKey]) -> list[ArchivedAttachment]:
        """Answer what attachments there are, and where they lie beside the archive."""
        if not requested:
            return []
        names = msgspec.json.encode([file[0] for file in requested]).decode()
        rows = self.archive.connection.execute(
            "SELECT media_name, path FROM media WHERE media_name IN (SELECT value FROM json_each(?))", (names,)
        )
        paths: dict[str, str] = dict(rows.fetchall())
        return [to_attachment(file, paths.get(file[0])) for file in requested]

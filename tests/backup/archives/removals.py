"""Archives for tests of removals, and checks of what remains."""

import re
import sqlite3
import zlib
from pathlib import Path

from holdfast.backup import archives
from holdfast.backup.archives.person_removal import Cleaner
from holdfast.backup.archives.removal import RemovalResult
from holdfast.backup.schema import Frame
from holdfast.backup.schema.backup_pb2 import Quote
from tests.backup.archives.dump import dump
from tests.backup.archives.histories import copies, import_backups, items, read, write

# Rows of which only the last mention is kept, so that nobody knows which other backup had them.
LAST_MENTION = ("ad_hoc_call ", "sticker_pack ")


def remove_content(
    archive: Path, *, snapshot: int | None = None, chat: int | None = None, person: int | None = None
) -> RemovalResult:
    """Remove something."""
    with archives.open(archive, create=True) as opened:
        return opened.remove(snapshot=snapshot, chat=chat, person=person)


def query(archive: Path, text: str, *values: object) -> list[tuple[object, ...]]:
    """Run a query."""
    connection = sqlite3.connect(archive)
    try:
        return connection.execute(text, values).fetchall()
    finally:
        connection.close()


def import_id(archive: Path, made_ms: int) -> int:
    """Find an import by the time its backup was made."""
    ((number,),) = query(archive, "SELECT id FROM snapshot WHERE made_ms = ?", made_ms)
    assert isinstance(number, int)
    return number


def archive_bytes(archive: Path) -> bytes:
    """Return all bytes of an archive and its media, and what its blocks unpack to."""
    blocks = [
        zlib.decompress(data) for (data,) in query(archive, "SELECT data FROM block") if isinstance(data, bytes)
    ]
    folder = archive.with_name(f"{archive.name}-media")
    files = [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()] if folder.is_dir() else []
    return b"\n".join([archive.read_bytes(), *blocks, *files])


def comparable_rows(archive: Path) -> list[str]:
    """Dump an archive without ad-hoc calls and sticker packs, of which only the last mention is stored."""
    return [line for line in dump(archive) if not line.startswith(LAST_MENTION)]


def rows_without_snapshots(archive: Path) -> list[str]:
    """Dump an archive without what distinguishes backups made at the same time."""
    return [
        re.sub(r"'(\d+) [0-9a-f]{8}'", r"\1", line)
        for line in comparable_rows(archive)
        if not line.startswith(("snapshot ", "skipped "))
    ]


def write_without_person(source: Path, target: Path, aci: bytes) -> Path:
    """Write a copy of a backup without any reference to a person."""
    header, frames = read(source)
    people = {frame.recipient.id for frame in frames if aci and frame.recipient.contact.aci == aci}
    pnis = {frame.recipient.contact.pni for frame in frames if frame.recipient.contact.aci == aci} - {b""}
    chats = {frame.chat.id for frame in frames if frame.chat.recipientId in people}
    cleaner = Cleaner(people, {aci, *pnis, *(b"\x01" + pni for pni in pnis)})
    remaining: list[Frame] = []
    for frame in frames:
        item = frame.chatItem
        its_own = frame.recipient.id in people or frame.chat.id in chats
        by_or_with = frame.HasField("chatItem") and (item.chatId in chats or item.authorId in people)
        if not its_own and not by_or_with and (cleaner.clean(frame) or not frame.HasField("chatItem")):
            remaining.append(frame)
    return write(target, header, remaining)


def archive_with_secrets(tmp_path: Path) -> tuple[Path, int, int]:
    """Make an archive with a text in a group by a contact, which another quotes; return group and person."""
    header, frames = copies(120)
    people = {frame.recipient.id: frame.recipient for frame in frames if frame.HasField("recipient")}
    chats = {frame.chat.id: frame.chat.recipientId for frame in frames if frame.HasField("chat")}
    group, author = next(
        (item.chatId, item.authorId)
        for item in items(frames)
        if people[chats[item.chatId]].HasField("group")
        and people[item.authorId].HasField("contact")
        and people[item.authorId].contact.aci
        and item.HasField("standardMessage")
    )
    contact = people[author].contact
    contact.ClearField("nickname")
    contact.systemGivenName, contact.profileGivenName = "Zyxwonderlich", "Zyxwonderlich"
    first = True
    for item in items(frames):
        if item.chatId == group and item.HasField("standardMessage"):
            if item.authorId == author:
                item.standardMessage.text.body = "xylophonsecret by the person"
                item.ClearField("revisions")
            elif first:
                first = False
                item.standardMessage.text.body = "groupsecretword by another"
                item.ClearField("revisions")
                item.standardMessage.quote.authorId = author
                item.standardMessage.quote.text.body = "quotedsecretword"
                item.standardMessage.quote.type = Quote.NORMAL
                item.standardMessage.reactions.add(emoji="🦜", authorId=author, sentTimestamp=5, sortOrder=9)
    assert not first
    path = tmp_path / "a.db"
    import_backups(path, write(tmp_path / "one", header, frames))
    ((person,),) = query(path, "SELECT id FROM people WHERE name = 'Zyxwonderlich'")
    ((chat,),) = query(path, "SELECT DISTINCT chat_id FROM message WHERE text LIKE 'groupsecretword%'")
    assert isinstance(person, int)
    assert isinstance(chat, int)
    words = (b"xylophonsecret", b"groupsecretword", b"quotedsecretword")
    assert all(word in archive_bytes(path) for word in words)
    return path, chat, person

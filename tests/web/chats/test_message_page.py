"""The details page of one message."""

import random
from contextlib import closing
from pathlib import Path

import pytest
from markupsafe import escape

from holdfast.web.chats.conversation_routes import respond
from holdfast.web.chats.open_archive import OpenArchive, open_archive_file
from holdfast.web.chats.view import PageNotFound
from tests.backup.archives.histories import copies, import_backups, write, write_later
from tests.web.chats.conftest import EVIL, drawn_in, shown_in


def test_receipts_files_and_the_record_are_shown(opened: OpenArchive) -> None:
    """The page of a sent message has its receipts, its record as JSON and a link to its chat."""
    with opened.reading() as archive:
        sent = next(
            archive.message(message.id)
            for chat in archive.chats()
            for message in archive.messages(chat.id)
            if message.direction == "outgoing" and archive.message(message.id).receipts
        )
    page = drawn_in(opened, f"message/{sent.id}")
    assert "Receipts" in page
    assert sent.receipts[0].status in page
    assert "&#34;chatItem&#34;" in page
    assert f"/chat/{sent.chat_id}?at=" in page


def test_changes_between_backups_are_listed(tmp_path: Path) -> None:
    """The page of a message that differs between two backups says what changed, from which value to which."""
    dice = random.Random(3)
    second = write_later(tmp_path / "two", dice, days=3)
    import_backups(tmp_path / "a.db", write(tmp_path / "one", *copies()), second)
    with closing(open_archive_file(tmp_path / "a.db", "a.db")) as opened:
        with opened.reading() as archive:
            rows = archive.connection.execute(
                "SELECT DISTINCT message_id FROM message_change ORDER BY 1"
            ).fetchall()
            changed = [archive.message(row[0]) for row in rows]
        assert changed
        for message in changed:
            section = drawn_in(opened, f"message/{message.id}").partition("Changes between backups")[2]
            table = section.partition("</table>")[0]
            assert table.count("<tr>") == 1 + len(message.changes)
            for change in message.changes:
                shown = (change.who or "", change.before or "", change.after or "")
                cells = "".join(f"<td><bdi>{escape(value)}</bdi></td>" for value in shown)
                assert f"<td>{escape(change.what)}</td>{cells}" in table


def test_records_of_hostile_messages_are_escaped(hostile_archive: OpenArchive) -> None:
    """The page of a hostile message, which includes its record as JSON, has no markup from it."""
    with hostile_archive.reading() as archive:
        messages = [message.id for chat in archive.chats() for message in archive.messages(chat.id)]
    for number in messages[:40]:
        page = drawn_in(hostile_archive, f"message/{number}")
        assert EVIL not in page
        assert "<img src=x" not in page
        assert "&lt;script&gt;" in page


def test_other_numbers_are_not_found(opened: OpenArchive) -> None:
    """Message ids that do not exist, also those beyond 64 bits, are not found."""
    for number in ("0", "1", str(2**63 - 1), "9" * 40):
        with pytest.raises(PageNotFound):
            respond(opened, "", f"message/{number}", {})
    assert shown_in(opened, "").status == 200

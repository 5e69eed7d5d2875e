"""Where messages stand in an archive."""

from pathlib import Path

from holdfast.backup import archives
from tests.backup.archives.histories import copies, imported, items, write


def test_messages_stand_in_the_order_of_the_file(tmp_path: Path) -> None:
    """Also where times go backwards."""
    header, frames = copies()
    expected: dict[int, list[str]] = {}
    for number, item in enumerate(items(frames)):
        if item.standardMessage.text.body:
            item.standardMessage.text.body = f"number {number}"
            if number % 3 == 0:
                item.dateSent = item.incoming.dateReceived = 0
            expected.setdefault(item.chatId, []).append(f"number {number}")
    imported(tmp_path / "a.db", write(tmp_path / "one", header, frames))
    with archives.open(tmp_path / "a.db") as opened:
        found = []
        for chat in opened.chats():
            texts = [message.text for message in opened.messages(chat.id) if message.kind == "message"]
            found.append([text for text in texts if text and text.startswith("number")])
    assert sorted(filter(None, found)) == sorted(expected.values())

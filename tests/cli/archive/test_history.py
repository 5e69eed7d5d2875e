"""`holdfast archive vanished` and `history`."""

import json
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from holdfast.cli.exit_codes import ExitCode
from tests.backup.archives.histories import copies, import_backups, items, write
from tests.backup.phone_folders import DAY_MS
from tests.cli.conftest import Run

GONE, EDITED, DELETED = 3, 2, 1


@pytest.fixture
def chats_db(tmp_path: Path) -> str:
    """Import two backups: the second lacks three plain messages, has two in other words, and one is deleted.

    The messages that it lacks are of two chats and of three people.
    """
    header, frames = copies()
    first = write(tmp_path / "one", header, frames)
    header.backupTimeMs += DAY_MS
    plain = [
        frame
        for frame in frames
        if frame.HasField("chatItem")
        and frame.chatItem.standardMessage.text.body
        and not frame.chatItem.standardMessage.attachments
        and not frame.chatItem.revisions
    ][2:]
    for frame in plain[GONE : GONE + EDITED]:
        frame.chatItem.standardMessage.text.body = "in other words"
    for frame in plain[GONE + EDITED : GONE + EDITED + DELETED]:
        frame.chatItem.remoteDeletedMessage.SetInParent()
    assert len(list(items(frames))) > GONE + EDITED + DELETED
    vanished = {id(frame) for frame in plain[:GONE]}
    second = write(tmp_path / "two", header, [frame for frame in frames if id(frame) not in vanished])
    import_backups(tmp_path / "chats.db", first, second)
    return str(tmp_path / "chats.db")


def test_vanished_messages_are_listed_and_paged(run: Run, chats_db: str) -> None:
    """Vanished messages are listed as text and JSON, the latest first, with `--below` for the next page."""
    vanished = json.loads(run("archive", "vanished", chats_db, "--json").out)
    assert len(vanished) == GONE
    assert all(message["vanished_ms"] for message in vanished)
    numbers = [message["id"] for message in vanished]
    assert numbers == sorted(numbers, reverse=True)
    first = run("archive", "vanished", chats_db, "-n", "2")
    assert f"--below {numbers[1]}" in first.err
    assert first.out.count("gone since") == 2
    rest = json.loads(run("archive", "vanished", chats_db, "--json", "--below", str(numbers[1])).out)
    assert [message["id"] for message in rest] == numbers[2:]


def test_they_are_filtered_by_chat_person_and_date(run: Run, chats_db: str) -> None:
    """`--chat`, `--from`, `--since` and `--until` select vanished messages."""
    vanished = json.loads(run("archive", "vanished", chats_db, "--json").out)
    for option, field in (("--chat", "chat_id"), ("--from", "author")):
        expected = vanished[0][field]
        result = run("archive", "vanished", chats_db, "--json", option, str(expected))
        matching = [row["id"] for row in vanished if row[field] == expected]
        assert len(matching) < GONE
        assert [row["id"] for row in json.loads(result.out)] == matching
    result = run("archive", "vanished", chats_db, "--since", "2100")
    assert (result.status, result.out) == (ExitCode.NO, "")
    assert run("archive", "vanished", chats_db, "--until", "2100").status == ExitCode.FINE
    assert run("archive", "vanished", chats_db, "--until", "1990", "--json").out == "[]\n"


def test_dates_are_those_of_the_zone(run: Run, chats_db: str) -> None:
    """A vanished message is found by the date it is shown with."""
    latest = json.loads(run("archive", "vanished", chats_db, "--json").out)[0]
    sent = datetime.fromtimestamp(latest["sent_ms"] / 1000, UTC)
    # It is always another day 26 hours to the west.
    east, west = "Pacific/Kiritimati", "Etc/GMT+12"
    day = f"{sent.astimezone(ZoneInfo(east)):%Y-%m-%d}"
    found: dict[str, list[int]] = {}
    for options in (("--since", day), ("--until", day), ("--since", day, "--until", day)):
        for zone in (east, west):
            result = run("archive", "vanished", chats_db, "--json", *options, "--zone", zone)
            found[zone] = [row["id"] for row in json.loads(result.out)]
        assert latest["id"] in found[east], options
    assert latest["id"] not in found[west]


def test_edited_and_deleted_ones_are_listed(run: Run, chats_db: str) -> None:
    """Edited messages include those whose earlier text is only in an earlier backup."""
    edited = json.loads(run("archive", "vanished", chats_db, "--what", "edited", "--json").out)
    assert sum(message["text"] == "in other words" for message in edited) == EDITED
    deleted = json.loads(run("archive", "vanished", chats_db, "--what", "deleted", "--json").out)
    assert [message["kind"] for message in deleted] == ["deleted"] * DELETED


def test_the_history_of_a_message_is_shown(run: Run, chats_db: str) -> None:
    """The history shows earlier texts, and when the message was no longer in the backup."""
    edited = json.loads(run("archive", "vanished", chats_db, "--what", "edited", "--json").out)
    number = next(row["id"] for row in edited if row["text"] == "in other words")
    result = run("archive", "history", chats_db, str(number), "--zone", "UTC")
    assert result.status == ExitCode.FINE
    assert "edited: " in result.out
    assert "-> in other words" in result.out
    vanished_id = json.loads(run("archive", "vanished", chats_db, "--json").out)[0]["id"]
    result = run("archive", "history", chats_db, str(vanished_id), "--zone", "UTC")
    assert "UTC  no longer in the backup" in result.out
    assert json.loads(run("archive", "history", chats_db, str(vanished_id), "--json").out)["id"] == vanished_id
    assert run("archive", "history", chats_db, "1").status == ExitCode.NO

"""`holdfast archive vanished` and `history`."""

import json
from pathlib import Path

import pytest

from holdfast.cli.exit_codes import ExitCode
from tests.backup.archives.histories import copies, imported, items, write
from tests.backup.phone_folders import DAY_MS
from tests.cli.conftest import Run

GONE, EDITED = 3, 2


@pytest.fixture
def chats_db(tmp_path: Path) -> str:
    """Import two backups: the second lacks the first three plain messages, and has two others in other words."""
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
    ]
    for frame in plain[GONE : GONE + EDITED]:
        frame.chatItem.standardMessage.text.body = "in other words"
    assert len(list(items(frames))) > GONE + EDITED
    gone = {id(frame) for frame in plain[:GONE]}
    second = write(tmp_path / "two", header, [frame for frame in frames if id(frame) not in gone])
    imported(tmp_path / "chats.db", first, second)
    return str(tmp_path / "chats.db")


def test_vanished_messages_are_listed_and_paged(run: Run, chats_db: str) -> None:
    """For people and for programs, the latest first."""
    found = json.loads(run("archive", "vanished", chats_db, "--json").out)
    assert len(found) == GONE
    assert all(one["vanished_ms"] for one in found)
    numbers = [one["id"] for one in found]
    assert numbers == sorted(numbers, reverse=True)
    first = run("archive", "vanished", chats_db, "-n", "2")
    assert f"--below {numbers[1]}" in first.err
    assert first.out.count("gone since") == 2
    rest = json.loads(run("archive", "vanished", chats_db, "--json", "--below", str(numbers[1])).out)
    assert [one["id"] for one in rest] == numbers[2:]


def test_they_are_filtered_by_chat_person_and_date(run: Run, chats_db: str) -> None:
    """Each filter leaves those that fit."""
    found = json.loads(run("archive", "vanished", chats_db, "--json").out)
    for option, field in (("--chat", "chat_id"), ("--from", "author")):
        wanted = found[0][field]
        ran = run("archive", "vanished", chats_db, "--json", option, str(wanted))
        assert [one["id"] for one in json.loads(ran.out)] == [one["id"] for one in found if one[field] == wanted]
    ran = run("archive", "vanished", chats_db, "--since", "2100")
    assert (ran.status, ran.out) == (ExitCode.NO, "")
    assert run("archive", "vanished", chats_db, "--until", "2100").status == ExitCode.FINE
    assert run("archive", "vanished", chats_db, "--until", "1990", "--json").out == "[]\n"


def test_edited_and_deleted_ones_are_listed(run: Run, chats_db: str) -> None:
    """Also those whose earlier wording only an earlier backup has."""
    edited = json.loads(run("archive", "vanished", chats_db, "--what", "edited", "--json").out)
    assert sum(one["text"] == "in other words" for one in edited) == EDITED
    deleted = run("archive", "vanished", chats_db, "--what", "deleted", "--json")
    assert {one["kind"] for one in json.loads(deleted.out)} <= {"deleted", "deleted_by_admin"}


def test_the_history_of_a_message_is_shown(run: Run, chats_db: str) -> None:
    """What it said before, and since when it is gone."""
    edited = json.loads(run("archive", "vanished", chats_db, "--what", "edited", "--json").out)
    number = next(one["id"] for one in edited if one["text"] == "in other words")
    ran = run("archive", "history", chats_db, str(number), "--zone", "UTC")
    assert ran.status == ExitCode.FINE
    assert "edited: " in ran.out
    assert "-> in other words" in ran.out
    gone = json.loads(run("archive", "vanished", chats_db, "--json").out)[0]["id"]
    assert "UTC  no longer in the backup" in run("archive", "history", chats_db, str(gone), "--zone", "UTC").out
    assert json.loads(run("archive", "history", chats_db, str(gone), "--json").out)["id"] == gone
    assert run("archive", "history", chats_db, "1").status == ExitCode.NO

"""`holdfast archive chats`, `show`, `people`, `info`, `skipped`."""

import json
import shutil
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.backup.archives.histories import copies, import_backups, items, write
from tests.cli.conftest import Run


def test_chats_and_people_are_listed(run: Run, chats_db: str) -> None:
    """Chats and people are listed as text and as JSON."""
    chats = json.loads(run("archive", "chats", chats_db, "--json").out)
    assert sum(chat["messages"] for chat in chats) == 400
    assert str(chats[0]["id"]) in run("archive", "chats", chats_db).out
    assert "(you)" in run("archive", "people", chats_db).out
    assert json.loads(run("archive", "people", chats_db, "--json").out)[0]["kind"] == "self"


def test_a_chat_is_shown_page_by_page(run: Run, chats_db: str) -> None:
    """A page ends with the `--before` of the next page, and `--around` has the date in its middle."""
    chats = json.loads(run("archive", "chats", chats_db, "--json").out)
    largest = str(max(chats, key=lambda chat: chat["messages"])["id"])
    first = run("archive", "show", chats_db, largest, "-n", "5")
    assert "--before" in first.err
    position = first.err.split("--before ")[1].split()[0]
    command = ("archive", "show", chats_db, largest, "--json")
    ten, last, before = (
        [message["id"] for message in json.loads(run(*command, *options).out)["messages"]]
        for options in (("-n", "10"), ("-n", "5"), ("-n", "5", "--before", position))
    )
    assert len(set(ten)) == 10
    assert before + last == ten
    around = json.loads(run("archive", "show", chats_db, largest, "--around", "2025-01", "--json").out)["messages"]
    january = datetime(2025, 1, 1, tzinfo=UTC).timestamp() * 1000
    assert [message["sent_ms"] >= january for message in around] == [False] * 25 + [True] * 25
    sent = around[25]["sent_ms"]
    for zone in ("Pacific/Kiritimati", "Etc/GMT+12"):
        minute = f"{datetime.fromtimestamp(sent / 1000, ZoneInfo(zone)):%Y-%m-%dT%H:%M}"
        page = json.loads(run(*command, "--around", minute, "--zone", zone).out)["messages"]
        assert page[25]["id"] == around[25]["id"], zone


def test_wrong_places_and_chats_are_refused(run: Run, chats_db: str) -> None:
    """An unknown or ambiguous chat and an invalid position have exit status 1 or 2 and one line of error."""
    chat = str(json.loads(run("archive", "chats", chats_db, "--json").out)[0]["id"])
    for arguments, status in ((("nobody",), 1), ((chat, "--around", "soon"), 2), (("e",), 1)):
        result = run("archive", "show", chats_db, *arguments)
        assert result.status == status
        assert len(result.err.splitlines()) == 1
    assert run("archive", "show", chats_db, chat, "--before", "1.2").status == 2


def test_what_was_skipped_is_listed(run: Run, chats_db: str) -> None:
    """Each skipped field is listed with the number of its frame."""
    skipped = json.loads(run("archive", "skipped", chats_db, "--json").out)
    _header, frames = copies(400)
    assert [frames[row["frame"] - 1].WhichOneof("item") for row in skipped] == [row["record"] for row in skipped]
    assert any("avatarColor" in row["what"] for row in skipped)
    _columns, *lines = run("archive", "skipped", chats_db).out.splitlines()
    assert [(line.split()[1], line.endswith(row["what"])) for line, row in zip(lines, skipped, strict=True)] == [
        (str(row["frame"]), True) for row in skipped
    ]
    nothing = run("archive", "skipped", chats_db, "--snapshot", "99")
    assert (nothing.status, nothing.out) == (0, "")


def test_texts_cannot_steer_the_terminal(run: Run, tmp_path: Path) -> None:
    """Control characters are removed from texts, and Rich markup in them is printed as text."""
    header, frames = copies()
    for item in items(frames):
        if item.standardMessage.text.body:
            item.standardMessage.text.body = "\x1b[31mred [bold]not bold[/bold]\x07"
    import_backups(tmp_path / "a.db", write(tmp_path / "one", header, frames))
    path = str(tmp_path / "a.db")
    for chat in json.loads(run("archive", "chats", path, "--json").out):
        out = run("archive", "show", path, str(chat["id"])).out
        assert "\x1b" not in out
        assert "\x07" not in out
    assert "[bold]not bold[/bold]" in run("archive", "search", path, "bold").out


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("recipient", "name"),
        ("stored_message", "text"),
        ("stored_message", "look"),
        ("stored_message", "receipts"),
        ("stored_message", "order_ms"),
        ("stored_message", "block_at"),
        ("snapshot", "source"),
        ("snapshot", "made_ms"),
        ("skipped", "what"),
        ("block", "data"),
    ],
)
def test_an_archive_with_values_of_wrong_types_is_damaged_and_no_mistake_of_ours(
    run: Run, chats_db: str, tmp_path: Path, table: str, column: str
) -> None:
    """No command ends with a traceback or the exit status of an internal error."""
    path = tmp_path / "a.db"
    shutil.copy(chats_db, path)
    connection = sqlite3.connect(path, isolation_level=None)
    (chat,) = connection.execute("SELECT chat_id FROM message GROUP BY 1 ORDER BY count(*) DESC").fetchone()
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(
        "UPDATE sqlite_master SET sql = replace(replace(sql, ') STRICT, ', ') '), ') STRICT', ')') WHERE name = ?",
        (table,),
    )
    connection.close()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(f"UPDATE {table} SET {column} = {'x' + repr('ff') if column != 'data' else repr('text')}")
    connection.close()
    for command in (
        ("chats",),
        ("people",),
        ("info",),
        ("skipped",),
        ("show", str(chat)),
        ("search", "the"),
        ("stats",),
        ("export", str(tmp_path / column)),
    ):
        result = run("archive", command[0], str(path), *command[1:])
        assert result.status != 70, (command, result.err)
        assert "Traceback" not in result.err

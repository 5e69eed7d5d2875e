"""`holdfast archive stats`."""

import json
from pathlib import Path

from holdfast.cli.exit_codes import ExitCode
from tests.cli.conftest import Run


def test_counts_are_drawn_and_written(run: Run, chats_db: str, tmp_path: Path) -> None:
    """Statistics are printed as text with bars and as JSON, and written as SVG."""
    output = run("archive", "stats", chats_db).out
    assert "400 messages" in output
    assert "█" in output
    assert json.loads(run("archive", "stats", chats_db, "--json").out)["messages"] == 400
    picture = tmp_path / "stats.svg"
    assert run("archive", "stats", chats_db, "--svg", str(picture)).status == 0
    assert picture.read_text().startswith("<svg")


def test_one_chat_can_be_counted(run: Run, chats_db: str) -> None:
    """`--chat` limits the statistics to the chat with that number."""
    chats = json.loads(run("archive", "chats", chats_db, "--json").out)
    chat = chats[0]
    statistics = json.loads(run("archive", "stats", chats_db, "--chat", str(chat["id"]), "--json").out)
    assert statistics["messages"] == chat["messages"]


def test_hours_are_those_of_the_time_zone(run: Run, chats_db: str, tmp_path: Path) -> None:
    """`--zone` is named in the text and in the drawing; JSON is in UTC unless the option is given."""
    text = run("archive", "stats", chats_db, "--zone", "Asia/Kathmandu").out
    assert text.splitlines()[0].endswith(" Asia/Kathmandu")
    picture = tmp_path / "stats.svg"
    run("archive", "stats", chats_db, "--zone", "Asia/Kathmandu", "--svg", str(picture))
    assert "By weekday and hour (Asia/Kathmandu)" in picture.read_text()
    universal = json.loads(run("archive", "stats", chats_db, "--json").out)
    assert json.loads(run("archive", "stats", chats_db, "--zone", "UTC", "--json").out) == universal
    shifted = json.loads(run("archive", "stats", chats_db, "--zone", "Asia/Kathmandu", "--json").out)
    assert shifted["hours"] != universal["hours"]
    assert run("archive", "stats", chats_db, "--zone", "Nowhere/Land").status == ExitCode.USAGE

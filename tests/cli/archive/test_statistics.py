"""`holdfast archive stats`."""

import json
from pathlib import Path

from holdfast.cli.exit_codes import ExitCode
from tests.backup.streams import sample, stream_of
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


def test_nothing_is_left_out_in_silence(run: Run, tmp_path: Path) -> None:
    """Years before the months that fit are counted, and so are the chats and people after the first ones."""
    source, chats_db = tmp_path / "chats.binproto", str(tmp_path / "chats.db")
    source.write_bytes(stream_of(sample(800)))
    assert run("archive", "import", chats_db, str(source)).status == ExitCode.FINE
    statistics = json.loads(run("archive", "stats", chats_db, "--json").out)
    months = statistics["months"]
    assert len(months) > 36
    lines = run("archive", "stats", chats_db, "--zone", "UTC").out.splitlines()
    shown = dict(line.split(maxsplit=1) for line in lines[2 : 2 + lines[2:].index("")])
    counted = sum(int(text.split(" (")[0].split()[-1].replace(",", "")) for text in shown.values())
    assert counted == sum(count for _, count in months)
    assert {months[-36][0], months[-1][0], months[0][0][:4]} <= shown.keys()
    for name in ("chats", "people"):
        assert f"... and {len(statistics[name]) - 15} more; --json lists all" in lines


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

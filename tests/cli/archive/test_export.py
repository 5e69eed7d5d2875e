"""`holdfast archive export`."""

import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.cli.conftest import Run


@pytest.mark.parametrize("form", ["html", "csv"])
def test_an_export_says_what_it_did(run: Run, chats_db: str, tmp_path: Path, form: str) -> None:
    """The summary is one line, and a second export writes no file."""
    target = str(tmp_path / "out")
    first = run("archive", "export", chats_db, target, "--to", form)
    assert first.status == 0
    assert len(first.out.splitlines()) == 1
    assert "files written, 0 unchanged, 0 removed" in first.out
    second = json.loads(run("archive", "export", chats_db, target, "--to", form, "--json").out)
    assert (second["form"], second["written"], second["removed"]) == (form, 0, 0)
    assert second["unchanged"] > 10


def test_attachments_that_were_not_copied_are_mentioned(run: Run, chats_db: str, tmp_path: Path) -> None:
    """A note names `archive import --media`, unless `--no-media` is given."""
    result = run("archive", "export", chats_db, str(tmp_path / "out"), "--to", "json")
    assert "archive import --media" in result.err
    assert run("archive", "export", chats_db, str(tmp_path / "out"), "--to", "json", "--no-media").err == ""


def test_chats_and_dates_are_chosen(run: Run, chats_db: str, tmp_path: Path) -> None:
    """Chats are selected by number and messages by date, and the day of `--until` is included."""
    chats = json.loads(run("archive", "chats", chats_db, "--json").out)
    two = [str(chat["id"]) for chat in chats[:2]]

    def exported(target: Path, until: str) -> list[dict[str, Any]]:
        arguments = ("--to", "json", "--chat", two[0], "--chat", two[1], "--since", "2024-02", "--until", until)
        assert run("archive", "export", chats_db, str(target), *arguments).status == 0
        files = sorted((target / "messages").rglob("*.jsonl"))
        return [json.loads(line) for path in files for line in path.read_text().splitlines()]

    messages = exported(tmp_path / "out", "2024-12-31")
    assert {str(message["chat_id"]) for message in messages} == set(two)
    assert all("2024-02" <= message["sent"] < "2025" for message in messages)
    last_day = max(message["sent"] for message in messages)[:10]
    assert exported(tmp_path / "until", last_day) == messages


def test_dates_are_those_of_the_zone(run: Run, chats_db: str, tmp_path: Path) -> None:
    """With `--zone` the pages of a day have the messages of that day in the zone."""
    chat = str(json.loads(run("archive", "chats", chats_db, "--json").out)[0]["id"])
    shown = json.loads(run("archive", "show", chats_db, chat, "-n", "1", "--json").out)["messages"][0]
    sent = datetime.fromtimestamp(shown["sent_ms"] / 1000, UTC)
    east, west = "Pacific/Kiritimati", "Etc/GMT+12"
    day = f"{sent.astimezone(ZoneInfo(east)):%Y-%m-%d}"
    pages = {}
    for zone in (east, west):
        target = tmp_path / zone.replace("/", "-")
        arguments = ("--to", "markdown", "--chat", chat, "--since", day, "--until", day, "--zone", zone)
        assert run("archive", "export", chats_db, str(target), *arguments).status == 0
        pages[zone] = "".join(page.read_text() for page in sorted(target.rglob("*.md")))
    minute = f"{sent.astimezone(ZoneInfo(east)):%H:%M}"
    assert minute in pages[east]
    assert f"{sent.astimezone(ZoneInfo(west)):%H:%M}" not in pages[west]


def test_wrong_options_are_refused_in_one_line(run: Run, chats_db: str, tmp_path: Path) -> None:
    """Wrong options have an exit status and one line of error, and nothing is written."""
    target = tmp_path / "out"
    for arguments, status in (
        (("--to", "pdf"), 2),
        (("--to", "json", "--no-search"), 2),
        (("--to", "json", "--plain"), 2),
        (("--to", "json", "--zone", "Europe/Berlin"), 2),
        (("--to", "html", "--zone", "Nowhere/Land"), 2),
        (("--to", "html", "--zone", "../../etc/passwd"), 2),
        (("--since", "soon"), 2),
        (("--since", "2024", "--until", "2023"), 2),
        (("--chat", "nobody"), 1),
        (("--single-file",), 2),
        (("--single-file", "--chat", "a", "--chat", "b"), 2),
        (("--single-file", "--chat", "a", "--to", "json"), 2),
        (("--single-file", "--chat", "nobody"), 1),
    ):
        result = run("archive", "export", chats_db, str(target), *arguments)
        assert result.status == status, arguments
        assert len(result.err.splitlines()) == 1
        assert not target.exists()


def test_one_chat_is_one_file(run: Run, chats_db: str, tmp_path: Path) -> None:
    """`--single-file` writes a new private file with all messages, and an existing one is refused."""
    chat = json.loads(run("archive", "chats", chats_db, "--json").out)[0]
    target = tmp_path / "chat.html"
    arguments = ("archive", "export", chats_db, str(target), "--single-file", "--chat", str(chat["id"]))
    result = run(*arguments)
    assert (result.status, result.out) == (0, f"{target}: 1 file written, 0 unchanged, 0 removed\n")
    assert len(re.findall(r'<li [^>]*id="m\d', target.read_text())) == chat["messages"]
    assert target.stat().st_mode & 0o077 == 0
    second = run(*arguments)
    assert second.status != 0
    assert "exists already" in second.err


def test_other_folders_are_left_alone(run: Run, chats_db: str, tmp_path: Path) -> None:
    """A folder with other files, one with another export, and a file as target are refused."""
    (tmp_path / "letter.txt").write_text("keep me")
    result = run("archive", "export", chats_db, str(tmp_path), "--to", "csv")
    assert (result.status, len(result.err.splitlines())) == (1, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]
    assert run("archive", "export", chats_db, str(tmp_path / "out"), "--to", "csv").status == 0
    before = files_of(tmp_path / "out")
    other = run("archive", "export", chats_db, str(tmp_path / "out"), "--to", "markdown")
    assert other.status == 1
    assert "csv" in other.err
    assert files_of(tmp_path / "out") == before
    file = run("archive", "export", chats_db, str(tmp_path / "letter.txt"), "--to", "csv")
    assert (file.status, len(file.err.splitlines())) == (3, 1)
    assert (tmp_path / "letter.txt").read_text() == "keep me"


def test_a_zone_is_named(run: Run, chats_db: str, tmp_path: Path) -> None:
    """The index of a Markdown export names the zone of its times."""
    arguments = ("--to", "markdown", "--zone", "Asia/Tokyo")
    assert run("archive", "export", chats_db, str(tmp_path / "out"), *arguments).status == 0
    assert "Asia/Tokyo" in (tmp_path / "out" / "index.md").read_text()


def test_plain_csv_is_for_programs(run: Run, chats_db: str, tmp_path: Path) -> None:
    """With `--plain` a CSV file has no byte order mark."""
    assert run("archive", "export", chats_db, str(tmp_path / "out"), "--to", "csv", "--plain").status == 0
    assert (tmp_path / "out" / "people.csv").read_bytes().startswith(b"id,")


def test_only_the_owner_can_read_an_export(run: Run, chats_db: str, tmp_path: Path) -> None:
    """No file or folder of an export is readable by others."""
    assert run("archive", "export", chats_db, str(tmp_path / "out"), "--to", "json").status == 0
    for path in ((tmp_path / "out"), *(tmp_path / "out").rglob("*")):
        assert os.stat(path).st_mode & 0o077 == 0  # noqa: PTH116  # of the file itself


def test_the_export_of_another_account_stays(run: Run, source: str, tmp_path: Path) -> None:
    """The export of another account is refused and kept, also one of an interrupted run."""
    out, other = tmp_path / "out", tmp_path / "other.binproto"
    chats_db = make_archive(run, tmp_path / "chats.db", source)
    assert run("backup", "sample", str(other), "--messages", "20", "--seed", "9").status == 0
    for form in ("json", "csv", "markdown", "html"):
        folder = out / form
        assert run("archive", "export", chats_db, str(folder), "--to", form).status == 0
        before = files_of(folder)
        for arguments in (
            ("backup", "export", str(other)),
            ("archive", "export", make_archive(run, tmp_path / "other.db", str(other))),
        ):
            result = run(*arguments, str(folder), "--to", form)
            assert (result.status, result.out) == (1, ""), form
            assert result.err == f"error: {folder} holds the export of another account; name another folder\n"
        assert files_of(folder) == before
        assert run("backup", "export", source, str(folder), "--to", form).status == 0
    (out / "json" / ".holdfast-export.json").rename(out / "json" / ".holdfast-export.running")
    before = files_of(out / "json")
    assert run("backup", "export", str(other), str(out / "json"), "--to", "json").status == 1
    assert files_of(out / "json") == before


def files_of(folder: Path) -> dict[Path, bytes]:
    """Read all files of an export."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def make_archive(run: Run, path: Path, *sources: str) -> str:
    """Make an archive."""
    assert run("archive", "import", str(path), *sources).status == 0
    return str(path)


def test_an_archive_that_grew_is_exported_again(run: Run, source: str, tmp_path: Path) -> None:
    """An archive with one more account updates an export, and one with an account less is refused."""
    other = tmp_path / "other.binproto"
    chats_db = make_archive(run, tmp_path / "chats.db", source)
    assert run("backup", "sample", str(other), "--messages", "20", "--seed", "9").status == 0
    updated = make_archive(run, tmp_path / "grown.db", source, str(other))
    out = tmp_path / "out"
    arguments = (str(out), "--to", "json")
    assert run("archive", "export", chats_db, *arguments).status == 0
    assert run("archive", "export", updated, *arguments).status == 0
    before = files_of(out)
    accounts = {json.loads(line)["account_id"] for line in (out / "chats.jsonl").read_text().splitlines()}
    assert len(accounts) == 2
    assert run("archive", "export", chats_db, *arguments).status == 1
    assert files_of(out) == before

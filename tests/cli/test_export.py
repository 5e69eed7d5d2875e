"""`holdfast backup export`."""

import json
from pathlib import Path

import pytest

from holdfast.backup.container.keyfile import read_keys
from holdfast.backup.conversion import OutputFormat
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample
from tests.backup.archives.histories import copies, write
from tests.cli.conftest import Run

KEYS = f"recovery-key = {'k7' * 32}\naccount-id = 01234567-89ab-4def-8123-456789abcdef"


@pytest.fixture
def phone(tmp_path: Path) -> tuple[str, str]:
    """Write a phone's folder with attachments, and its keys."""
    write_sample(sample_records(60, 3), tmp_path / "phone", OutputFormat.FOLDER, seed=3, keys=read_keys(KEYS))
    (tmp_path / "keys").write_text(KEYS)
    return str(tmp_path / "phone"), str(tmp_path / "keys")


def test_a_phones_folder_is_exported_with_its_attachments(
    run: Run, phone: tuple[str, str], tmp_path: Path
) -> None:
    """The export of a phone's folder has its attachments, and a second run writes no file."""
    source, keys = phone
    arguments = ("backup", "export", source, str(tmp_path / "out"), "--to", "markdown", "--key-file", keys)
    first = run(*arguments)
    assert (first.status, first.err) == (0, "")
    assert "files written" in first.out
    assert any((tmp_path / "out" / "media").rglob("*.jpg"))
    second = json.loads(run(*arguments, "--json").out)
    assert (second["written"], second["removed"], second["problems"]) == (0, 0, [])


def test_one_chat_of_a_phone_is_one_file(run: Run, phone: tuple[str, str], tmp_path: Path) -> None:
    """`--single-file` writes one chat with its attachments, and does not replace an existing file."""
    source, keys = phone
    target = tmp_path / "chat.html"
    assert run("backup", "export", source, str(tmp_path / "data"), "--to", "json", "--key-file", keys).status == 0
    chats = [json.loads(line) for line in (tmp_path / "data" / "chats.jsonl").read_text().splitlines()]
    name = str(max(chats, key=lambda chat: int(chat["messages"]))["id"])
    arguments = ("backup", "export", source, str(target), "--single-file", "--chat", name, "--key-file", keys)
    result = run(*arguments)
    assert (result.status, result.err) == (0, "")
    content = target.read_text()
    assert "data:image/" in content
    target.write_text("mine")
    assert "exists already" in run(*arguments).err
    assert target.read_text() == "mine"


def test_a_key_that_is_missing_or_wrong_is_said_to_be(run: Run, phone: tuple[str, str], tmp_path: Path) -> None:
    """A missing key has exit status 2 and a wrong one 4, and no file is left."""
    source, _ = phone
    target = str(tmp_path / "out")
    assert run("backup", "export", source, target).status == 2
    assert run("backup", "export", source, target, "--key", "q" * 64).status == 4
    assert {path.name for path in tmp_path.iterdir()} == {"phone", "keys"}


def test_missing_attachments_are_noted(run: Run, phone: tuple[str, str], tmp_path: Path) -> None:
    """A missing attachment is noted, the other files are exported, and the exit status is 1."""
    source, keys = phone
    whole, partial = tmp_path / "whole", tmp_path / "partial"
    assert run("backup", "export", source, str(whole), "--to", "json", "--key-file", keys).status == 0
    next(path for path in sorted((Path(source) / "files").rglob("*")) if path.is_file()).unlink()
    result = run("backup", "export", source, str(partial), "--to", "json", "--key-file", keys)
    assert result.status == 1
    assert "files written" in result.out
    note, hint = result.err.splitlines()
    assert note.endswith(" is not in the content store")
    assert hint == "`holdfast backup check` lists these attachments by chat, date and person"
    exported, left = (
        {path.name for path in (folder / "media").rglob("*") if path.is_file()} for folder in (whole, partial)
    )
    assert left < exported
    assert len(exported) - len(left) == 1


def test_a_plain_stream_is_exported_from_standard_input(spawn: Run, tmp_path: Path) -> None:
    """A backup from a pipe on standard input is exported."""
    data = write(tmp_path / "one", *copies(60)).read_bytes()
    result = spawn("backup", "export", "-", "out", "--to", "csv", "--json", data=data)
    assert (result.status, result.err) == (0, "")
    assert json.loads(result.out)["written"] > 10
    assert (tmp_path / "out" / "people.csv").is_file()


def test_what_is_no_backup_is_refused(run: Run, tmp_path: Path) -> None:
    """A file that is no backup is an error in one line, and no folder is created."""
    (tmp_path / "notes.txt").write_text("not a backup")
    result = run("backup", "export", str(tmp_path / "notes.txt"), str(tmp_path / "out"))
    assert (result.status, len(result.err.splitlines())) == (3, 1)
    assert not (tmp_path / "out").exists()

"""Entry points of all exports."""

import gc
import json
import random
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast import backup
from holdfast.backup import archives
from holdfast.backup.archives import Archive
from holdfast.backup.container.keyfile import read_keys
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.conversion import OutputFormat
from holdfast.backup.errors import ArchiveBusy, ArchiveError, ExportRefused, NotInArchive
from holdfast.backup.exports import FORMS, ChatSelection, Form, dispatcher, export, export_backup
from holdfast.backup.media import kept
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample
from tests.backup.archives.histories import copies, import_backups, items, write, write_later

KEYS = f"recovery-key = {'k7' * 32}\naccount-id = 01234567-89ab-4def-8123-456789abcdef"


def contents(folder: Path) -> dict[str, bytes]:
    """Read every file of an export."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".holdfast")
    }


@pytest.fixture(scope="session")
def phone(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, KeyMaterial]:
    """Write a phone's folder with attachments."""
    keys = read_keys(KEYS)
    folder = tmp_path_factory.mktemp("phone") / "backups"
    write_sample(sample_records(120, 3), folder, OutputFormat.FOLDER, seed=3, keys=keys)
    return folder, keys


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_written_and_the_next_time_left_alone(opened: Archive, tmp_path: Path, form: Form) -> None:
    """A second export of each form writes nothing, and progress never exceeds the number of messages."""
    progress: list[tuple[int, int]] = []
    first = export(opened, tmp_path / "out", form, progress=lambda *now: progress.append(now))
    assert first.written > 10
    assert first.removed == 0
    assert all(0 < count <= total == 400 for count, total in progress)
    assert [count for count, _ in progress] == sorted(count for count, _ in progress)
    before = contents(tmp_path / "out")
    second = export(opened, tmp_path / "out", form)
    assert (second.written, second.unchanged, second.removed) == (0, first.written, 0)
    assert contents(tmp_path / "out") == before


@pytest.mark.parametrize("form", FORMS)
def test_a_later_snapshot_changes_only_what_it_has_to(tmp_path: Path, form: Form) -> None:
    """After another import, an export into the same folder equals a new export."""
    import_backups(tmp_path / "a.db", write(tmp_path / "one", *copies(100)))
    with archives.open(tmp_path / "a.db") as opened:
        first = export(opened, tmp_path / "out", form)
    import_backups(tmp_path / "a.db", write_later(tmp_path / "two", random.Random(1), days=2, messages=100))
    with archives.open(tmp_path / "a.db") as opened:
        second = export(opened, tmp_path / "out", form)
        export(opened, tmp_path / "fresh", form)
    assert second.written > 0
    assert second.written + second.unchanged + second.removed >= first.written
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")


def test_only_what_was_chosen_is_written(tmp_path: Path) -> None:
    """No word of another chat is anywhere in the export, whatever its form."""
    header, frames = copies(100)
    for item in items(frames):
        if item.standardMessage.text.body:
            item.standardMessage.text.body = f"told-in-{item.chatId}-only"
            item.standardMessage.text.ClearField("bodyRanges")
    import_backups(tmp_path / "a.db", write(tmp_path / "one", header, frames))
    with archives.open(tmp_path / "a.db") as opened:
        ((chat, word),) = opened.connection.execute(
            "SELECT chat_id, text FROM message WHERE text LIKE 'told-in-%' GROUP BY chat_id LIMIT 1"
        )
        for form in FORMS:
            export(opened, tmp_path / form, form, ChatSelection(chats=(chat,)))
            content = b"".join(contents(tmp_path / form).values()).decode(errors="replace")
            assert set(re.findall(r"told-in-\d+-only", content)) == {word}, form


@pytest.mark.parametrize("form", ["html", "json"])
def test_a_backup_is_exported_like_an_archive_of_it(
    phone: tuple[Path, KeyMaterial], tmp_path: Path, form: Form
) -> None:
    """The export of a backup equals that of an archive, attachments included, and leaves no other files."""
    folder, keys = phone
    problems: list[str] = []
    with backup.open(folder, keys) as source:
        summary = export_backup(source, tmp_path / "out", form, on_problem=problems.append)
    with archives.open(tmp_path / "a.db", create=True) as opened, backup.open(folder, keys) as source:
        opened.add(source)
        assert not [copied for copied in opened.copy_media(source) if copied.problem]
        export(opened, tmp_path / "other", form)
    assert problems == []
    assert contents(tmp_path / "out") == contents(tmp_path / "other")
    assert sum(name.startswith("media/") for name in contents(tmp_path / "out")) >= 10
    assert {path.name for path in tmp_path.iterdir()} == {"out", "other", "a.db", "a.db-media"}
    with backup.open(folder, keys) as source:
        second = export_backup(source, tmp_path / "out", form)
    assert (second.written, second.unchanged, second.removed) == (0, summary.written, 0)


@pytest.mark.parametrize(("form", "media"), [("html", True), ("markdown", False), ("json", True), ("csv", False)])
def test_long_texts_are_whole_in_every_form(
    phone: tuple[Path, KeyMaterial], tmp_path: Path, form: Form, *, media: bool
) -> None:
    """The end of a long text, which is stored as an attachment, is part of the export with or without media."""
    folder, keys = phone
    with backup.open(folder, keys) as reader:
        long = (attachment for pointer, attachment in kept(reader) if pointer.path.endswith(".longText"))
        assert reader.media is not None
        with reader.media.open(next(long)) as source:
            text = source.read().decode()
        export_backup(reader, tmp_path / "out", form, media=media)
    last = re.findall(r"\w+(?: \w+){4,}", text)[-1]
    assert text.index(last) > 2048
    suffixes = {".html", ".md", ".jsonl", ".csv"}
    pages = [content for name, content in contents(tmp_path / "out").items() if Path(name).suffix in suffixes]
    assert any(last in page.decode() for page in pages)


def test_media_are_left_out_when_they_are_not_wanted(phone: tuple[Path, KeyMaterial], tmp_path: Path) -> None:
    """An export without media has no media files, and one of a single chat has fewer than one of all."""
    folder, keys = phone
    with backup.open(folder, keys) as source:
        export_backup(source, tmp_path / "none", "json", media=False)
    assert not any(name.startswith("media/") for name in contents(tmp_path / "none"))
    with backup.open(folder, keys) as source:
        export_backup(source, tmp_path / "all", "json")
    chats = [json.loads(line) for line in (tmp_path / "all" / "chats.jsonl").read_text().splitlines()]
    with backup.open(folder, keys) as source:
        export_backup(source, tmp_path / "one", "json", ChatSelection(chats=(chats[0]["id"],)))
    assert 0 < len(contents(tmp_path / "one" / "media")) < len(contents(tmp_path / "all" / "media"))


def test_a_missing_attachment_is_told_and_stops_nothing(phone: tuple[Path, KeyMaterial], tmp_path: Path) -> None:
    """A missing attachment is reported once, and its message says that it is not in the export."""
    folder, keys = phone
    problems: list[str] = []
    shutil.copytree(folder, tmp_path / "copy")
    next(path for path in sorted((tmp_path / "copy" / "files").rglob("*")) if path.is_file()).unlink()
    with backup.open(tmp_path / "copy", keys) as source:
        export_backup(source, tmp_path / "out", "markdown", on_problem=problems.append)
    assert len(problems) == 1
    text = "".join(path.read_text() for path in (tmp_path / "out").rglob("*.md"))
    assert "not in this export" in text


def test_what_cannot_work_is_refused_before_anything_is_made(
    phone: tuple[Path, KeyMaterial], opened: Archive, tmp_path: Path
) -> None:
    """A folder with other files and an unknown chat are refused, and no file is created."""
    folder, keys = phone
    other_file = tmp_path / "mine"
    other_file.mkdir()
    (other_file / "letter.txt").write_text("keep me")
    with backup.open(folder, keys) as source, pytest.raises(ExportRefused):
        export_backup(source, other_file, "html")
    for form in FORMS:
        with pytest.raises(ExportRefused):
            export(opened, other_file, form)
        with pytest.raises(NotInArchive):
            export(opened, tmp_path / "out", form, ChatSelection(chats=("nobody",)))
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert [path.name for path in other_file.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize("form", FORMS)
def test_an_export_that_fails_in_the_middle_is_completed_by_the_next(
    opened: Archive, tmp_path: Path, form: Form
) -> None:
    """After an interrupted export, the next one into the same folder equals a new export."""

    def stop(count: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(opened, tmp_path / "out", form, progress=stop)
    gc.collect()
    export(opened, tmp_path / "out", form)
    export(opened, tmp_path / "fresh", form)
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")


def test_the_temporary_archive_is_locked_while_it_exists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another export beside the same target leaves it alone, and its lock is removed after its content."""
    source = write(tmp_path / "one", *copies(20))
    removed: list[Path] = []
    rmtree = shutil.rmtree

    def recorded(path: str | Path, *words: Any, **options: Any) -> None:
        removed.append(Path(path))
        assert (removed[0].parent / "export.lock").exists()
        rmtree(path, *words, **options)

    with backup.open(source) as opened_backup:
        target = tmp_path / "out"
        with dispatcher.temporary_archive(opened_backup, target, "json") as archive:
            dispatcher.remove_left_behind(tmp_path)
            assert archive.path.exists()
            monkeypatch.setattr(shutil, "rmtree", recorded)
    assert removed[0].name == "content"
    assert not list(tmp_path.glob(".holdfast-temporary-*"))


def test_what_is_imported_meanwhile_is_for_the_next_export(tmp_path: Path) -> None:
    """An export reads one state of the archive, and another connection cannot write during it."""
    import_backups(tmp_path / "a.db", write(tmp_path / "one", *copies(300)))
    second = write_later(tmp_path / "two", random.Random(1), days=2, messages=300)
    refused: list[str] = []

    def disturb(count: int, total: int) -> None:
        if not refused:
            other = sqlite3.connect(tmp_path / "a.db", timeout=0, isolation_level=None)
            try:
                other.execute("BEGIN IMMEDIATE")
                other.execute("UPDATE stored_message SET text = 'xyzzy'")
                other.execute("COMMIT")
            except sqlite3.OperationalError as error:
                refused.append(str(error))
            finally:
                other.close()

    with archives.open(tmp_path / "a.db") as opened:
        export(opened, tmp_path / "out", "json", progress=disturb)
        import_backups(tmp_path / "a.db", second)
    assert refused == ["database is locked"]
    assert not any(b"xyzzy" in data for data in contents(tmp_path / "out").values())


@pytest.mark.parametrize("form", FORMS)
def test_another_process_does_not_write_during_an_export(tmp_path: Path, form: Form) -> None:
    """Another process than that of the export is kept from writing too, in every form.

    Locks of SQLite belong to a process, which loses them when it closes the file in any other way.
    """
    import_backups(tmp_path / "a.db", write(tmp_path / "one", *copies(300)))
    code = (
        "import sqlite3, sys\nother = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)\n"
        "other.execute('BEGIN IMMEDIATE')\nother.execute('DELETE FROM reaction')\nother.execute('COMMIT')"
    )
    refused: list[str] = []

    def disturb(count: int, total: int) -> None:
        if not refused:
            command = [sys.executable, "-c", code, str(tmp_path / "a.db")]
            refused.append(subprocess.run(command, capture_output=True, text=True, check=False).stderr)

    with archives.open(tmp_path / "a.db") as opened:
        export(opened, tmp_path / "out", form, progress=disturb)
    assert refused[0].endswith("database is locked\n")


def test_an_archive_that_is_damaged_or_being_written_is_said_to_be(tmp_path: Path) -> None:
    """A locked archive raises `ArchiveBusy`, and a missing table raises `ArchiveError` with its name."""
    import_backups(tmp_path / "a.db", write(tmp_path / "one", *copies(60)))
    with archives.open(tmp_path / "a.db") as opened:
        opened.connection.execute("PRAGMA busy_timeout = 0")
        other = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(ArchiveBusy):
            export(opened, tmp_path / "out", "json")
        other.execute("ROLLBACK")
        other.execute("DROP TABLE link_preview")
        other.close()
        with pytest.raises(ArchiveError, match="link_preview"):
            export(opened, tmp_path / "out", "json")

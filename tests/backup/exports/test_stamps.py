"""An export with unchanged inputs is not written again, and any change of the inputs is noticed."""

import random
from datetime import UTC, timedelta, timezone
from pathlib import Path

import pytest

from holdfast.backup import archives
from holdfast.backup.archives import Archive
from holdfast.backup.exports import stamps
from holdfast.backup.exports.choice import ChatSelection
from holdfast.backup.exports.dispatcher import FORMS, Form, export
from holdfast.backup.exports.folder import ExportSummary
from holdfast.backup.exports.stamps import change_counter, export_stamp, zone_offsets
from tests.backup.archives.histories import copies, import_backups, write, write_later

ALL = ChatSelection()
OURS = ".holdfast-export.json"


@pytest.fixture
def archive_path(tmp_path: Path) -> Path:
    """Make an archive that a test may change."""
    import_backups(tmp_path / "chats.db", write(tmp_path / "one", *copies(60)))
    return tmp_path / "chats.db"


def exported(path: Path, out: Path, form: Form) -> ExportSummary:
    """Export an archive."""
    with archives.open(path) as opened:
        return export(opened, out, form)


def tree(folder: Path) -> dict[str, bytes]:
    """Read all files of an export but the list of them."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != OURS]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.mark.parametrize("form", FORMS)
def test_an_unchanged_archive_is_not_read_again(
    archive_path: Path, tmp_path: Path, form: Form, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second export of any form reads no messages, and one after another import equals a new export."""
    out = tmp_path / "out"
    first = exported(archive_path, out, form)
    with monkeypatch.context() as patched:
        patched.setattr(Archive, "build_messages", None)
        second = exported(archive_path, out, form)
    assert (second.written, second.unchanged, second.removed) == (0, first.written, 0)
    import_backups(archive_path, write_later(tmp_path / "two", random.Random(3), days=4))
    assert exported(archive_path, out, form).written > 0
    exported(archive_path, tmp_path / "fresh", form)
    assert tree(out) == tree(tmp_path / "fresh")


@pytest.mark.parametrize("form", FORMS)
def test_a_file_that_is_gone_or_changed_is_written_again(archive_path: Path, tmp_path: Path, form: Form) -> None:
    """A deleted and a changed file are written again, although the archive has not changed."""
    out = tmp_path / "out"
    exported(archive_path, out, form)
    before = tree(out)
    changed, other = sorted(before)[:2]
    (out / changed).unlink()
    (out / other).write_text("mine")
    assert exported(archive_path, out, form).written == 2
    assert tree(out) == before


def test_a_run_that_was_broken_off_is_finished(archive_path: Path, tmp_path: Path) -> None:
    """An export after an interrupted one is done in full, although the archive has not changed."""
    out = tmp_path / "out"
    exported(archive_path, out, "json")
    before = tree(out)
    (out / ".holdfast-export.running").write_text("")
    exported(archive_path, out, "json")
    assert tree(out) == before
    assert not (out / ".holdfast-export.running").exists()


def test_the_stamp_tells_apart_what_makes_another_export(
    archive_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another selection, form, zone, option, media file, message or program gives another stamp."""
    seen: list[str] = []

    def look(
        choice: ChatSelection | None = None, form: str = "html", zone: timezone = UTC, *, plain: bool = False
    ) -> None:
        with archives.open(archive_path) as opened:
            seen.append(export_stamp(opened, change_counter(opened), choice or ChatSelection(), form, zone, plain))

    look()
    look()
    assert len(set(seen)) == 1
    look(ChatSelection(since_ms=1))
    look(ChatSelection(("Ada",)))
    look(form="csv")
    look(zone=timezone(timedelta(hours=1)))
    look(plain=True)
    with archives.open(archive_path, create=True) as opened:
        opened.connection.execute(f"INSERT INTO media VALUES ('name', 'ab', 7, 'ab/{'ab' * 32}.jpg')")
        folder = opened.media_folder / "ab"
    look()
    folder.mkdir(parents=True)
    (folder / f"{'ab' * 32}.jpg").write_bytes(b"picture")
    look()
    with archives.open(archive_path, create=True) as opened:
        opened.connection.execute(
            "UPDATE stored_message SET text = 'changed' WHERE id = (SELECT min(id) FROM message)"
        )
    look()
    monkeypatch.setattr(stamps, "program_digest", lambda: "another")
    look()
    assert len(set(seen)) == len(seen) - 1


def test_zones_are_told_apart_by_their_offsets() -> None:
    """Two zones of the same name with other offsets differ, as after an update of the system."""
    assert zone_offsets(timezone(timedelta(hours=1), "Here")) != zone_offsets(timezone(timedelta(hours=2), "Here"))
    assert zone_offsets(UTC) == ("UTC", ())

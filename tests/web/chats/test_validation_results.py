"""The findings of the validator that are stored with an import."""

from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup import archives
from holdfast.web.chats.conversation_routes import respond
from holdfast.web.chats.open_archive import OpenArchive
from holdfast.web.chats.validation_results import read_findings, store_findings
from holdfast.web.chats.view import PageNotFound
from tests.backup.archives.histories import copies, items, write
from tests.web.chats.conftest import EVIL, OpenFile, drawn_in


@pytest.fixture
def faulty(tmp_path: Path, open_file: OpenFile) -> OpenArchive:
    """Import a backup in which some messages have an unknown author, with its findings."""
    header, frames = copies(60)
    for number, item in enumerate(items(frames)):
        if item.HasField("standardMessage"):
            item.standardMessage.text.body = EVIL
        if number % 10 == 0:
            item.authorId = 999_999
    source = write(tmp_path / "one", header, frames)
    with archives.open(tmp_path / "a.db", create=True) as archive, backup.open(source) as result:
        archive.add(result)
        store_findings(archive.connection, result)
    return open_file(tmp_path / "a.db")


def test_findings_lead_to_their_frames(faulty: OpenArchive) -> None:
    """Each finding links to its frame, which is shown as JSON with its texts escaped."""
    with faulty.reading() as opened:
        verdict, finding_rows = read_findings(opened.connection, 1000, 0)
    assert not verdict.valid
    assert verdict.errors == len([item for item in finding_rows if item.severity == "error"]) > 0
    page = drawn_in(faulty, "findings")
    assert "not valid" in page
    frames = {item.frame for item in finding_rows if item.frame is not None}
    shown = [drawn_in(faulty, f"frame/{number}") for number in frames]
    assert all(f'href="/frame/{number}"' in page for number in frames)
    assert any("999999" in frame for frame in shown)
    assert not any(EVIL in frame for frame in shown)
    with pytest.raises(PageNotFound):
        respond(faulty, "", "frame/5000", {})
    assert "Validation results" in drawn_in(faulty, "about")


def test_a_valid_backup_has_no_findings(tmp_path: Path, open_file: OpenFile) -> None:
    """The page of a valid backup says that no problems were found."""
    with (
        archives.open(tmp_path / "a.db", create=True) as archive,
        backup.open(write(tmp_path / "one", *copies())) as result,
    ):
        archive.add(result)
        store_findings(archive.connection, result)
    page = drawn_in(open_file(tmp_path / "a.db"), "findings")
    assert "No problems found" in page

"""The page of the backups in an archive and their findings."""

from pathlib import Path

import pytest

from holdfast.web.chats.conversation_routes import respond
from holdfast.web.chats.open_archive import OpenArchive
from holdfast.web.chats.view import PageNotFound
from tests.web.chats.conftest import EVIL, drawn_in


def test_backups_are_listed_without_their_paths(
    opened: OpenArchive, hostile_archive: OpenArchive, archive_file: Path
) -> None:
    """The page shows counts but no path of a file, and hostile texts are escaped."""
    page = drawn_in(opened, "about")
    assert "400" in page
    assert str(archive_file.parent) not in page
    hostile = drawn_in(hostile_archive, "about")
    assert EVIL not in hostile
    assert "&lt;script&gt;" in hostile


def test_only_validated_backups_have_findings(opened: OpenArchive) -> None:
    """An archive that was not validated here has no pages of findings and frames."""
    for path in ("findings", "frame/1"):
        with pytest.raises(PageNotFound):
            respond(opened, "", path, {})

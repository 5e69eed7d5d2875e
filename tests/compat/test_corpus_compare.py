"""Comparing, merging and cropping the backups of the corpus."""

import io
from itertools import pairwise
from pathlib import Path

import pytest

from holdfast.backup.compare.crop import crop
from holdfast.backup.compare.selection import Window
from holdfast.backup.conversion import OutputFormat
from tests.backup.compare.snapshots import difference, merged, opened
from tests.backup.compare.valid import errors


@pytest.fixture(scope="module")
def files(corpus: Path) -> list[bytes]:
    """Read every valid file of the corpus."""
    return [path.read_bytes() for path in sorted((corpus / "valid").glob("*.binproto"))]


def test_merging_a_backup_with_itself_gives_itself(files: list[bytes]) -> None:
    """The merged backup does not differ from the original and has the same errors."""
    for raw in files:
        created = merged(raw, raw)
        assert difference(raw, created).same
        assert errors(created) == errors(raw)


def test_two_backups_of_one_account_become_one_with_everything_of_both(files: list[bytes]) -> None:
    """A merge in either order gives the same valid backup, and nothing of the two is missing in it."""
    for one, other in pairwise(files[::3]):
        created = merged(one, other)
        assert created == merged(other, one)
        assert errors(created) == []
        for raw in (one, other):
            found_difference = difference(raw, created)
            assert not [record for record in found_difference.records if record.what == "removed"]
            assert sum(chat.removed for chat in found_difference.chats) == 0


def test_a_crop_of_any_of_them_is_valid(files: list[bytes]) -> None:
    """A crop without media has no errors, with all messages and with an empty time window."""
    for raw in files:
        for window in (Window(), Window(1 << 50, None)):
            out = io.BytesIO()
            crop(opened(raw), out, to=OutputFormat.STREAM, window=window, without_media=True)
            assert errors(out.getvalue()) == []

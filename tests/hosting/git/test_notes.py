"""Git notes at each depth of fan-out."""

from pathlib import Path

import pytest

from holdfast.hosting.git.notes import note_about
from holdfast.hosting.git.program import run
from holdfast.hosting.git.repository import open_repository

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize("folders", [0, 1, 2, 3])
def test_a_note_is_found_in_every_fan_out(tmp_path: Path, folders: int) -> None:
    """A note is found at each depth of folders, which git increases with the number of notes."""
    run(None, "init", "-q", "--bare", str(tmp_path))
    assert note_about(open_repository(tmp_path), COMMIT) is None
    cut = 2 * folders
    path = "/".join([*(COMMIT[at : at + 2] for at in range(0, cut, 2)), COMMIT[cut:]])
    entry = (
        f"commit refs/notes/commits\ncommitter A <a@example.org> 0 +0000\ndata 0\n"
        f"M 100644 inline {path}\ndata 5\nnoted\n"
    )
    run(tmp_path, "fast-import", "--quiet", input=entry.encode())
    repo = open_repository(tmp_path)
    assert note_about(repo, COMMIT) == "noted"
    assert note_about(repo, COMMIT[::-1]) is None

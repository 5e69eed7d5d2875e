"""The paths of all files in a commit."""

from pathlib import Path

import pytest

from holdfast.hosting.git import file_names as module
from holdfast.hosting.git.file_names import file_names
from holdfast.hosting.git.repository import open_repository
from tests.hosting.git.oracle import commit


def test_files_are_found_by_words_in_their_paths(folder: Path) -> None:
    """All words must match, in any case; matches in the file name come first, then shorter paths."""
    at = commit(folder, dict.fromkeys((b"tides/a", b"src/Tides.py", b"docs/tide/tides.md", b"x\xff", b"y"), b"x"))
    names = file_names(open_repository(folder), at)
    assert names.holding(["tide"]) == [b"src/Tides.py", b"docs/tide/tides.md", b"tides/a"]
    assert names.holding(["tide", "docs"]) == [b"docs/tide/tides.md"]
    assert names.holding(["\ufffd"]) == [b"x\xff"]
    assert names.holding(["nothing"]) == []
    assert not names.is_cut


def test_the_search_of_a_very_large_tree_is_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of paths ends at its limit and is marked as cut."""
    monkeypatch.setattr(module, "MOST", 3)
    at = commit(folder, {b"%d" % number: b"x" for number in range(5)})
    names = file_names(open_repository(folder), at)
    assert (len(names.paths), names.is_cut) == (3, True)

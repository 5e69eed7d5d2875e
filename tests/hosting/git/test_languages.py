"""Language statistics of a tree."""

from pathlib import Path

import pytest

from holdfast.hosting.git import languages
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.languages import language_of
from holdfast.hosting.git.repository import open_repository
from tests.hosting.git.oracle import commit


@pytest.mark.parametrize(
    ("path", "language"),
    [
        (b"a.py", "Python"),
        (b"src/deep/A.PY", "Python"),
        (b"a.tar.go", "Go"),
        (b"Makefile", "Makefile"),
        (b"x/Dockerfile", "Dockerfile"),
        (b"CMakeLists.txt", "CMake"),
        (b"a.txt", None),
        (b"README.md", None),
        (b"package.json", None),
        (b".py", None),
        (b"py", None),
        (b"node_modules/x/a.js", None),
        (b"web/vendor/a.go", None),
        (b"app.min.js", None),
        (b"distance/a.js", "JavaScript"),
        (b"caf\xe9.rs", "Rust"),
        (b"two\nlines.c", "C"),
    ],
)
def test_a_language_is_recognized_by_the_file_name(path: bytes, language: str | None) -> None:
    """Data, prose, vendored and minified files have no language."""
    assert language_of(path) == language


def test_bytes_are_added_up_and_the_most_comes_first(folder: Path) -> None:
    """Bytes are summed by language and sorted by size; symbolic links are not counted."""
    files = {b"a.c": b"x" * 10, b"b/c.c": b"y" * 5, b"d.py": b"z" * 20, b"e.rs": b"z" * 15, b"l.go": b"d.py"}
    commit_id = commit(folder, files, modes={b"l.go": b"120000"})
    repo = open_repository(folder)
    assert list(languages.languages(repo, read_commit(repo, commit_id).tree).items()) == [
        ("Python", 20),
        ("C", 15),
        ("Rust", 15),
    ]


def test_a_very_large_tree_is_judged_by_its_first_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a limited number of files is counted."""
    monkeypatch.setattr(languages, "MOST_FILES", 2)
    repo = open_repository(folder)
    commit_id = commit(folder, {b"%d.py" % number: b"x" for number in range(5)})
    assert languages.languages(repo, read_commit(repo, commit_id).tree) == {"Python": 2}
